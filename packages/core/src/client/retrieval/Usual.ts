/**
 * The two answers that programs wait for most, where they have their usual form.
 *
 * A schema that looks at each of twenty results costs more than the whole rest of a call, and JSON's strings of a
 * hundred vectors more than the vectors. What is not usual is left to the contract's schemas, and so are all errors.
 */
import { Effect, Predicate } from "effect"
import type { HttpClientError, HttpClientResponse } from "effect/http"
import type { EmbeddingResponse } from "../../contract/Embeddings.ts"
import type { RerankResponse } from "../../contract/Rerank.ts"
import { base64Reader } from "../../contract/Base64.ts"
import { bytesOf } from "../transport/Whole.ts"

type Response = HttpClientResponse.HttpClientResponse
type Check = (value: unknown) => boolean

const text: Check = (value) => typeof value === "string"
const integer: Check = Number.isSafeInteger
const finite: Check = Number.isFinite

const list =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check)

/** No other field, none of them `null`: what the contract's schemas leave as it is. */
const fields = (
  required: Readonly<Record<string, Check>>,
  optional: Readonly<Record<string, Check>>
): Check => {
  const checks = new Map(Object.entries({ ...required, ...optional }))
  const needed = Object.keys(required)
  return (value) => {
    if (!Predicate.isObject(value)) return false
    for (const name of Object.keys(value)) {
      const check = checks.get(name)
      if (check === undefined || !check(value[name])) return false
    }
    return needed.every((name) => name in value)
  }
}

const usage = fields({}, { prompt_tokens: integer, total_tokens: integer })

const isUsualRerank = fields(
  { results: list(fields({ index: integer, relevance_score: finite }, { document: fields({ text }, {}) })) },
  { id: text, model: text, usage, meta: Predicate.isObject }
)

/** A vector has been cut out, and its number stands for it. */
const isUsualEmbeddings = fields(
  { data: list(fields({ index: integer, embedding: integer }, { object: text })) },
  { object: text, model: text, usage }
)

/** A request that the contract's schema leaves as it is. */
export const isUsualRerankRequest = (request: {
  readonly model: unknown
  readonly query: unknown
  readonly documents: ReadonlyArray<unknown>
  readonly top_n: unknown
  readonly return_documents: unknown
}): boolean =>
  text(request.model) &&
  request.model !== "" &&
  text(request.query) &&
  request.query !== "" &&
  request.documents.every(text) &&
  integer(request.top_n) &&
  Number(request.top_n) >= 0 &&
  (request.return_documents === undefined || typeof request.return_documents === "boolean")

/** The same of texts to be embedded. */
export const isUsualEmbeddingRequest = (request: {
  readonly model: unknown
  readonly input: ReadonlyArray<unknown>
}): boolean =>
  text(request.model) && request.model !== "" && request.input.length > 0 && request.input.every(text)

export const usualRerank = (bytes: Buffer): RerankResponse | undefined => {
  const answer: unknown = JSON.parse(bytes.toString())
  return isUsualRerank(answer) ? (answer as RerankResponse) : undefined
}

/** An answer of `/v1/embeddings` whose vectors may have been decoded already. */
export interface EmbeddingAnswer extends Omit<EmbeddingResponse, "data"> {
  readonly data: ReadonlyArray<Omit<EmbeddingResponse["data"][number], "embedding"> & Embedded>
}
interface Embedded {
  embedding: EmbeddingResponse["data"][number]["embedding"] | Float32Array
}

const KEY = Buffer.from('"embedding":')
const QUOTE = 0x22
const SPACE = 0x20

/** With these, a key may be hidden from who looks for its bytes. */
const HIDING = /\\|"embedding"\s/

/**
 * The base64 vectors, straight from the answer's bytes: in a string of its whole length they would be copied twice.
 *
 * **Details.** What is left is JSON with a number for each vector. Each element of `data` has one then, and there are no
 * more of them than elements: no key was given twice.
 */
export const usualEmbeddings = (bytes: Buffer): EmbeddingAnswer | undefined => {
  const vectors: Array<Float32Array> = []
  let read: ReturnType<typeof base64Reader> | undefined
  let rest = ""
  let from = 0
  for (let key = bytes.indexOf(KEY); key !== -1; key = bytes.indexOf(KEY, from)) {
    let start = key + KEY.length
    while (bytes[start] === SPACE) start++
    if (bytes[start] !== QUOTE) return undefined
    const end = bytes.indexOf(QUOTE, start + 1)
    if (end === -1) return undefined
    read ??= base64Reader(Math.ceil((bytes.length * 3) / 4))
    const vector = read(bytes.toString("latin1", start + 1, end))
    if (vector === undefined) return undefined
    rest += bytes.toString("utf8", from, start) + vectors.length
    vectors.push(vector)
    from = end + 1
  }
  rest += bytes.toString("utf8", from)
  if (HIDING.test(rest)) return undefined
  const answer: unknown = JSON.parse(rest)
  if (!isUsualEmbeddings(answer)) return undefined
  const usual = answer as { readonly data: Array<{ embedding: unknown }> } & EmbeddingAnswer
  if (usual.data.length !== vectors.length) return undefined
  for (const [i, item] of usual.data.entries()) item.embedding = vectors[i]
  return usual
}

/** What `usual` makes of an answer; where it makes nothing of it, what the contract does. */
export const usually =
  <A, B, E, R>(
    usual: (bytes: Buffer) => A | undefined,
    decode: (response: Response) => Effect.Effect<B, E, R>
  ) =>
  (response: Response): Effect.Effect<A | B, E | HttpClientError.HttpClientError, R> =>
    response.status === 200
      ? Effect.flatMap(bytesOf(response), (bytes): Effect.Effect<A | B, E, R> => {
          let answer: A | undefined
          try {
            answer = usual(bytes)
          } catch {
            // No JSON: `decode` says so.
          }
          return answer === undefined ? decode(response) : Effect.succeed(answer)
        })
      : decode(response)
