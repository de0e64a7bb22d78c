/** `POST /v1/embeddings`. */
import { Effect } from "effect"
import { fromBase64 } from "../../contract/Base64.ts"
import type { Answer } from "../framework/Ask.ts"
import { check } from "../framework/Check.ts"
import { at, fault, listAt } from "../framework/Json.ts"
import { ours, promised } from "../framework/Rule.ts"
import { wantsModel } from "../framework/Models.ts"

const FIRST = "The lock keeper opens the sluice at high water."
const SECOND = "Seventeen violins, two harps, one conductor."

const numbersOf = (entry: unknown): ReadonlyArray<number> | undefined => {
  const embedding = at(entry, "embedding")
  return Array.isArray(embedding) && embedding.every((value) => Number.isFinite(value))
    ? embedding
    : undefined
}

const vectorsOf = ({ json }: Answer) => listAt(json, "data").map(numbersOf)

/** The entry for a text, wherever in the list it stands. */
const numbered = ({ json }: Answer, index: number) =>
  numbersOf(listAt(json, "data").find((entry) => at(entry, "index") === index))

const distance = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): number =>
  Math.hypot(...a.map((value, position) => value - (b[position] ?? 0)))

const SECTION = "Embedding response"
const FORMAT = "Embedding request"

const countOf = (value: unknown) => Number.isInteger(value) && Number(value) >= 0

export const embeddings = check({
  call: "POST /v1/embeddings",
  section: "Endpoints › Embeddings",
  form: promised(SECTION, "the answer has the fields of the embedding response"),
  model: "embedding",
  request: wantsModel("embedding", (model) => ({ body: { model, input: [FIRST, SECOND] } })),
  rules: {
    object: promised(SECTION, "`object` is `list`"),
    entryObject: promised(SECTION, "`object` of each entry is `embedding`"),
    count: promised(SECTION, "one entry comes for each input"),
    index: promised(SECTION, "each `index` is the position of an input, none twice"),
    numbers: promised(FORMAT, "without `encoding_format` a vector is an array of numbers"),
    dimension: promised(SECTION, "all vectors of a model have one dimension"),
    model: promised(SECTION, "`model` says which model was used"),
    usage: promised(SECTION, "`usage` counts prompt_tokens and total_tokens"),
    differ: promised("What the service does", "texts that say different things have different vectors"),
    single: promised(FORMAT, "`input` may be one text, and one entry comes for it"),
    order: promised(SECTION, "the vector at an `index` is that of the input there"),
    base64: promised(FORMAT, "with `encoding_format: base64` a vector is a Base64 text"),
    base64Floats: ours(FORMAT, "the Base64 text is the same vector, as little-endian float32 numbers"),
    emptyInput: ours("Errors 3", "no input is refused with 400 that names `input`"),
    unknownModel: ours("Errors 3", "an unknown model is refused with 404")
  },
  run: Effect.fnUntraced(function* ({ answer, judge, refuses, session, skip, succeeds }) {
    const { json } = answer
    const data = listAt(json, "data")
    const vectors = vectorsOf(answer)
    judge("object", fault(at(json, "object") === "list", "it is not"))
    judge(
      "entryObject",
      fault(
        data.every((entry) => at(entry, "object") === "embedding"),
        "it is not"
      )
    )
    judge("count", fault(data.length === 2, `${data.length} entries for 2 texts`))
    const indices = data.map((entry) => at(entry, "index"))
    const known = indices.every((index) => index === 0 || index === 1)
    judge("index", fault(known && new Set(indices).size === indices.length, `they are ${indices.join(", ")}`))
    judge(
      "numbers",
      fault(
        vectors.every((vector) => vector !== undefined),
        "one is not"
      )
    )
    const dimensions = [...new Set(vectors.map((vector) => vector?.length))]
    judge("dimension", fault(dimensions.length <= 1, `they have ${dimensions.join(" and ")}`))
    judge("model", fault(typeof at(json, "model") === "string", "it is missing"))
    const counted = countOf(at(json, "usage", "prompt_tokens")) && countOf(at(json, "usage", "total_tokens"))
    judge("usage", fault(counted, "a count is missing"))

    const model = session.models.embedding
    const single = yield* succeeds("single", { body: { model, input: SECOND } }, ({ json }) =>
      fault(listAt(json, "data").length === 1, `${listAt(json, "data").length} entries for one text`)
    )
    const alone = single && vectorsOf(single)[0]
    const [first, second] = [numbered(answer, 0), numbered(answer, 1)]
    const comparable = first !== undefined && first.length === second?.length
    const alike = comparable && distance(first, second) === 0
    if (comparable) judge("differ", fault(!alike, "two texts with nothing in common have one vector"))
    else skip("differ", "there are no vectors to compare")
    if (alike || alone === undefined || first?.length !== alone.length || second?.length !== alone.length) {
      skip("order", "there are no vectors to compare")
    } else {
      const swapped = distance(alone, first) < distance(alone, second)
      judge("order", fault(!swapped, "the vector of the second text came as that of the first"))
    }

    let decoded: Float32Array | undefined
    const coded = yield* succeeds(
      "base64",
      { body: { model, input: SECOND, encoding_format: "base64" } },
      ({ json }) => {
        const text = at(json, "data", 0, "embedding")
        decoded = typeof text === "string" ? fromBase64(text) : undefined
        return fault(typeof text === "string" && /^[\w+/]+={0,2}$/.test(text), "it is none")
      }
    )
    if (
      coded !== undefined &&
      typeof at(coded.json, "data", 0, "embedding") === "string" &&
      alone !== undefined
    ) {
      const same =
        decoded?.length === alone.length && distance(alone, [...decoded]) < 1e-3 * Math.hypot(...alone)
      judge("base64Floats", fault(same, "it is something else"))
    }

    yield* refuses("emptyInput", { body: { model, input: [] } }, ({ json, status }) =>
      fault(status === 400 && at(json, "error", "param") === "input", `status ${status}`)
    )
    yield* refuses("unknownModel", { body: { model: "no-such-model", input: FIRST } }, ({ status }) =>
      fault(status === 404, `status ${status}`)
    )
  })
})
