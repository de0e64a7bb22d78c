/** Embeddings by an embedder of this process. */
import { type Embedder, InvalidRequest } from "@sluice/core"
import { type EmbeddingRequest, type EmbeddingResponse, toBase64 } from "@sluice/core/contract"
import { countTokens } from "@sluice/embedded"
import { Effect, Option, Schema } from "effect"
import type { Operation } from "../routing/Provider.ts"
import { refusing } from "./Refusing.ts"

/** Characters of all texts of one request at most: 2,048 texts of 2,000. Others wait while they are looked at. */
const MAX_CHARACTERS = 4_096_000

/** Why so much text is refused. */
export const refusedLength = (texts: ReadonlyArray<string>, param: string): InvalidRequest | undefined => {
  const characters = texts.reduce((sum, { length }) => sum + length, 0)
  return characters <= MAX_CHARACTERS
    ? undefined
    : new InvalidRequest({
        message: `${characters} characters: send ${MAX_CHARACTERS} at most in one request`,
        param,
        code: "context_length_exceeded"
      })
}

/** Texts of one request at most, as the common APIs have it. */
const MAX_INPUTS = 2048

const decodeDimensions = Schema.decodeOption(
  Schema.fromJsonString(Schema.Struct({ dimensions: Schema.NullOr(Schema.Json) }))
)

/** How long a vector shall be, where the body says so: not of the interface, but common clients send it. */
const dimensionsOf = (body: string): Schema.Json =>
  body.includes('"dimensions"')
    ? Option.match(decodeDimensions(body), { onNone: () => null, onSome: ({ dimensions }) => dimensions })
    : null

/** `float` unless the caller asks for `base64`. */
export const embeddings = (embedder: Embedder["Service"]): Operation<EmbeddingRequest, EmbeddingResponse> => {
  const model = embedder.model.id
  const refuse = refusing("embeddings", model)
  return Effect.fnUntraced(function* ({ body, request }) {
    const texts = typeof request.input === "string" ? [request.input] : request.input
    if (texts.length > MAX_INPUTS) {
      const message = `${texts.length} texts: send ${MAX_INPUTS} at most in one request`
      return yield* refuse(new InvalidRequest({ message, param: "input" }))
    }
    const tooLong = refusedLength(texts, "input")
    if (tooLong !== undefined) return yield* refuse(tooLong)
    // The wire does not say what a text is for; a lexical model embeds both alike.
    const { vectors } = yield* embedder.embed(texts, "passage")
    const dimensions = dimensionsOf(body)
    const length = vectors[0]?.length
    if (dimensions !== null && dimensions !== length) {
      const message = `The vectors of ${model} have ${length} dimensions, no more and no fewer: leave \`dimensions\` out`
      return yield* refuse(new InvalidRequest({ message, param: "dimensions" }))
    }
    const tokens = texts.reduce((sum, text) => sum + countTokens(text), 0)
    const encode =
      request.encoding_format === "base64" ? toBase64 : (vector: Float32Array) => Array.from(vector)
    return {
      object: "list",
      data: vectors.map((vector, index) => ({ object: "embedding", index, embedding: encode(vector) })),
      model,
      usage: { prompt_tokens: tokens, total_tokens: tokens }
    }
  })
}
