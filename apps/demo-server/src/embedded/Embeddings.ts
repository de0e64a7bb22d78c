/** Embeddings by the embedded embedder. */
import { type Embedder, InvalidRequest } from "@sluice/core"
import { type EmbeddingRequest, type EmbeddingResponse, encodeVector } from "@sluice/core/contract"
import { countTokensOf } from "@sluice/embedded"
import { Effect, Option, Schema } from "effect"
import type { Operation } from "../routing/Provider.ts"
import { checkTexts, rejectedBy } from "./InvalidRequests.ts"

/** Texts per request at most, as in common APIs. */
const MAX_INPUTS = 2048

const decodeDimensions = Schema.decodeOption(
  Schema.fromJsonString(Schema.Struct({ dimensions: Schema.NullOr(Schema.Json) }))
)

/** The field `dimensions`, which is not in the interface but which common clients send. */
const dimensionsOf = (body: string): Schema.Json =>
  body.includes('"dimensions"')
    ? Option.match(decodeDimensions(body), { onNone: () => null, onSome: ({ dimensions }) => dimensions })
    : null

export const embeddingsOperation = (
  embedder: Embedder["Service"]
): Operation<EmbeddingRequest, EmbeddingResponse> => {
  const model = embedder.model.id
  const reject = rejectedBy("embeddings", model)
  return Effect.fnUntraced(function* ({ body, request }) {
    const texts = typeof request.input === "string" ? [request.input] : request.input
    if (texts.length > MAX_INPUTS) {
      const message = `${texts.length} texts. The maximum per request is ${MAX_INPUTS}`
      return yield* reject(new InvalidRequest({ message, param: "input" }))
    }
    yield* Effect.mapError(checkTexts(texts, "input"), reject)
    // The request does not say whether a text is a query or a passage. A lexical model embeds both alike.
    const { vectors } = yield* embedder.embed(texts, "passage")
    const dimensions = dimensionsOf(body)
    const length = vectors[0]?.length
    if (dimensions !== null && dimensions !== length) {
      const message = `The vectors of ${model} always have ${length} dimensions. Leave \`dimensions\` out`
      return yield* reject(new InvalidRequest({ message, param: "dimensions" }))
    }
    const tokens = yield* countTokensOf(texts)
    const encode =
      request.encoding_format === "base64" ? encodeVector : (vector: Float32Array) => Array.from(vector)
    return {
      object: "list",
      data: vectors.map((vector, index) => ({ object: "embedding", index, embedding: encode(vector) })),
      model,
      usage: { prompt_tokens: tokens, total_tokens: tokens }
    }
  })
}
