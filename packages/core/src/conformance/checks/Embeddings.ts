/** `POST /v1/embeddings`. */
import { Effect } from "effect"
import { decodeVector } from "../../contract/Base64.ts"
import { type GatewayResponse, hasStatus } from "../framework/Request.ts"
import { check, refuses, requiredFields } from "../framework/Check.ts"
import { at, failUnless, hasLength, interfaceRule, listAt, ownRule } from "../framework/Rule.ts"
import { modelRequest, unknownModel } from "../framework/Models.ts"

const FIRST = "The lock keeper opens the sluice at high water."
const SECOND = "Seventeen violins, two harps, one conductor."

/** A token has at least one byte. A model may add some to each text, such as a prefix. */
const MOST_TOKENS = FIRST.length + SECOND.length + 64

const numbersOf = (entry: unknown): ReadonlyArray<number> | undefined => {
  const embedding = at(entry, "embedding")
  return Array.isArray(embedding) && embedding.every(Number.isFinite) ? embedding : undefined
}

const vectorsOf = ({ json }: GatewayResponse) => listAt(json, "data").map(numbersOf)

/** The vector with this `index`. */
const vectorAt = ({ json }: GatewayResponse, index: number) =>
  numbersOf(listAt(json, "data").find((entry) => at(entry, "index") === index))

const distance = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): number =>
  Math.hypot(...a.map((value, position) => value - (b[position] ?? 0)))

const SECTION = "Embedding response"
const FORMAT = "Embedding request"

const isCount = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 0

export const embeddings = check({
  call: "POST /v1/embeddings",
  section: "Endpoints › Embeddings",
  form: interfaceRule(SECTION, "the response has the fields of the embedding response"),
  model: "embedding",
  request: modelRequest("embedding", (model) => ({ body: { model, input: [FIRST, SECOND] } })),
  rules: {
    object: interfaceRule(SECTION, "`object` is `list`"),
    entryObject: interfaceRule(SECTION, "`object` of each entry is `embedding`"),
    count: interfaceRule(SECTION, "there is one entry for each input"),
    index: interfaceRule(SECTION, "each `index` is the position of an input, without duplicates"),
    numbers: interfaceRule(FORMAT, "without `encoding_format` a vector is an array of numbers"),
    dimension: interfaceRule(SECTION, "all vectors of a model have one dimension"),
    model: interfaceRule(SECTION, "`model` names the model"),
    usage: interfaceRule(SECTION, "`usage` counts prompt_tokens and total_tokens"),
    differ: interfaceRule("What the service does", "different texts have different vectors"),
    single: interfaceRule(FORMAT, "`input` may be one text, which gives one entry"),
    order: interfaceRule(SECTION, "the vector at an `index` is that of the input there"),
    base64: interfaceRule(FORMAT, "with `encoding_format: base64` a vector is a Base64 text"),
    tokens: interfaceRule(SECTION, "`usage` counts the input's tokens: not more than its bytes"),
    float: interfaceRule(FORMAT, "with `encoding_format: float` a vector is an array of numbers"),
    base64Floats: ownRule(FORMAT, "the Base64 text is the same vector, as little-endian float32 numbers"),
    ...requiredFields(FORMAT, "model", "input"),
    texts: refuses(FORMAT, "an `input` that is not text is refused", { input: { text: FIRST } }),
    format: refuses(FORMAT, "another `encoding_format` is refused", { encoding_format: "int3" }),
    emptyInput: {
      ...ownRule("Errors 3", "an empty input is refused with 400 and `param` `input`"),
      changes: [{ input: [] }],
      judge: hasStatus(400, "input")
    },
    unknownModel
  },
  run: Effect.fnUntraced(function* ({ response, expect, session, skip, expectSuccess }) {
    const { json } = response
    const data = listAt(json, "data")
    const vectors = vectorsOf(response)
    expect("object", at(json, "object") === "list", "it is not")
    const isOther = data.some((entry) => at(entry, "object") !== "embedding")
    expect("entryObject", !isOther, "it is not")
    expect("count", data.length === 2, `${data.length} entries for 2 texts`)
    const indices = data.map((entry) => at(entry, "index"))
    const known = indices.every((index) => index === 0 || index === 1)
    expect("index", known && new Set(indices).size === indices.length, `they are ${indices.join(", ")}`)
    expect("numbers", !vectors.includes(undefined), "one is not")
    const dimensions = [...new Set(vectors.map((vector) => vector?.length))]
    expect("dimension", dimensions.length <= 1, `they have ${dimensions.join(" and ")}`)
    expect("model", typeof at(json, "model") === "string", "it is missing")
    const [prompt, total] = [at(json, "usage", "prompt_tokens"), at(json, "usage", "total_tokens")]
    const counted = isCount(prompt) && isCount(total)
    expect("usage", counted, "a count is missing")
    if (counted) {
      const isTotal = total >= prompt && total <= MOST_TOKENS
      expect("tokens", isTotal, `${total} in total, where ${MOST_TOKENS} are the most`)
    }

    const model = session.models.embedding
    const one = hasLength("data", 1, "entries for one text")
    const single = yield* expectSuccess("single", { body: { model, input: SECOND } }, one)
    const alone = single && vectorsOf(single)[0]
    const [first, second] = [vectorAt(response, 0), vectorAt(response, 1)]
    const comparable = first !== undefined && first.length === second?.length
    const alike = comparable && distance(first, second) === 0
    if (comparable) expect("differ", !alike, "two unrelated texts have the same vector")
    else skip("differ", "there are no vectors to compare")
    if (alike || alone === undefined || first?.length !== alone.length || second?.length !== alone.length) {
      skip("order", "there are no vectors to compare")
    } else {
      const swapped = distance(alone, first) < distance(alone, second)
      expect("order", !swapped, "the vectors of the two texts are swapped")
    }

    yield* expectSuccess("float", { body: { model, input: SECOND, encoding_format: "float" } }, (response) =>
      failUnless(vectorsOf(response)[0] !== undefined, "it is not")
    )
    const encoded = yield* expectSuccess(
      "base64",
      { body: { model, input: SECOND, encoding_format: "base64" } },
      ({ json }) => {
        const text = at(json, "data", 0, "embedding")
        return failUnless(typeof text === "string" && /^[\w+/]+={0,2}$/.test(text), "it is not Base64")
      }
    )
    const base64 = at(encoded?.json, "data", 0, "embedding")
    if (typeof base64 === "string" && alone !== undefined) {
      const decoded = decodeVector(base64)
      const same =
        decoded?.length === alone.length && distance(alone, [...decoded]) < 1e-3 * Math.hypot(...alone)
      expect("base64Floats", same, "it is a different vector")
    }
  })
})
