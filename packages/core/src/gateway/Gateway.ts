/** The service of `/v1`, with an API key: rerank, embeddings, chat, images, videos, and the list of models. */
import { Context, type Effect, Schema, type Stream } from "effect"
import type { ChatMessage } from "../contract/Chat.ts"
import type { Model } from "../contract/Models.ts"
import { Vector } from "../contract/Base64.ts"
import { Extra } from "../contract/Fields.ts"
import type { GatewayError } from "../contract/GatewayError.ts"
import type { Images } from "./Images.ts"
import type { Videos } from "./Videos.ts"

const { optionalKey } = Schema

/** A query and the documents to order by their relevance to it. */
export interface RerankCall {
  readonly model: string
  readonly query: string
  readonly documents: ReadonlyArray<string>
  /** Return only the best N. 0 returns none without a request; a larger number returns all. */
  readonly topN?: number | undefined
  /** Return the documents' texts as well. */
  readonly returnDocuments?: boolean | undefined
  /** Fields that the interface does not define, by their wire names. Sent unchanged. */
  readonly extra?: Extra | undefined
}

/** The id of the response and the model, if the gateway states them. The model is often a dated version of the one requested. */
const ResponseOrigin = Schema.Struct({ id: optionalKey(Schema.String), model: optionalKey(Schema.String) })
export interface ResponseOrigin extends Schema.Schema.Type<typeof ResponseOrigin> {}

/** The ranking of the documents, by their positions. */
export const RerankAnswer = Schema.Struct({
  ...ResponseOrigin.fields,
  /** Best first. `index` is a position in the documents, unique. `score` is in the model's own range. */
  results: Schema.Array(
    Schema.Struct({ index: Schema.Int, score: Schema.Finite, document: optionalKey(Schema.String) })
  ),
  /** As counted by the gateway; 0 if unknown. */
  tokens: Schema.Finite,
  /** Cohere's `meta`, unchanged: `billed_units`, `warnings`. */
  meta: optionalKey(Extra),
  /** Fields beyond the interface, at their original place. */
  extra: optionalKey(Extra)
})
export interface RerankAnswer extends Schema.Schema.Type<typeof RerankAnswer> {}

/** Texts to turn into vectors. */
export interface EmbeddingsCall {
  readonly model: string
  /** One text, or any number; the client splits them into requests. */
  readonly input: string | ReadonlyArray<string>
  /** Fields that the interface does not define, such as `dimensions`, by their wire names. Sent with each request. */
  readonly extra?: Extra | undefined
}

/** The vectors of some texts. */
export const Embeddings = Schema.Struct({
  /** One per text, in order, of one dimension, finite, not normalised. Several vectors may share one `buffer`. */
  vectors: Schema.Array(Vector),
  /** As counted by the gateway; 0 if unknown. */
  tokens: Schema.Finite,
  /** The model, if the gateway states it; of several requests, the first one stated. */
  model: optionalKey(Schema.String),
  /** Fields beyond the interface, at their original place: one entry for each response that has any. */
  extra: optionalKey(Schema.Array(Extra))
})
export interface Embeddings extends Schema.Schema.Type<typeof Embeddings> {}

/** A chat request: texts, and images added with `userMessage`. */
export interface ChatCall {
  readonly model: string
  readonly messages: ReadonlyArray<ChatMessage>
  readonly maxTokens?: number | undefined
  /** 0 to 2. */
  readonly temperature?: number | undefined
  /** Fields that the interface does not define, such as `top_p` or `stop`, by their wire names. Sent unchanged. */
  readonly extra?: Extra | undefined
}

/** How a response ended, and its token counts; 0 if unknown. */
const ChatEnd = Schema.Struct({
  ...ResponseOrigin.fields,
  /** `stop`, `length`, `content_filter`, or the model's own value. */
  finishReason: optionalKey(Schema.String),
  promptTokens: Schema.Finite,
  completionTokens: Schema.Finite,
  /** If the gateway states it. May exceed the sum of the two, for example with reasoning tokens. */
  totalTokens: optionalKey(Schema.Finite),
  /** Seconds since 1970, if the gateway states it. */
  created: optionalKey(Schema.Finite),
  /** Fields beyond the interface, at their original place: `{ choices: [{ message: … }] }`. */
  extra: optionalKey(Extra)
})
export interface ChatEnd extends Schema.Schema.Type<typeof ChatEnd> {}

/** A complete response. */
export const ChatAnswer = Schema.Struct({
  ...ChatEnd.fields,
  /** Empty if the model calls tools instead; the calls are in `extra`. */
  text: Schema.String
})
export interface ChatAnswer extends Schema.Schema.Type<typeof ChatAnswer> {}

/**
 * A piece of streamed text, or the end.
 *
 * `extra` has the fields of an event beyond the interface, such as `{ choices: [{ delta: { reasoning_content: "…" } }] }`.
 * Its text may then be empty.
 */
export const ChatPart = Schema.Union([
  Schema.Struct({ type: Schema.Literal("text"), text: Schema.String, extra: optionalKey(Extra) }),
  Schema.Struct({ type: Schema.Literal("end"), ...ChatEnd.fields })
])
export type ChatPart = typeof ChatPart.Type

/**
 * The gateway's models.
 *
 * **When to use.** For direct calls. Retrieval requires `Embedder`, `Reranker` and `Reader` instead, which
 * `GatewayEmbedder`, `GatewayReranker` and `GatewayReader` derive from this service.
 *
 * **Details.** `GatewayClient.layer` in `@sluice/core/client` implements it over HTTP. Every response is
 * validated: count, index range, duplicates, dimension, finiteness.
 *
 * **Gotchas.** `embeddings` of several requests fails with `PartialFailure` when some of them succeeded. A failure of
 * `chatStream` after its first part is not retried, because emitted text cannot be withdrawn.
 */
export class Gateway extends Context.Service<
  Gateway,
  {
    /** `POST /v1/rerank`. An empty list returns no results, without a request. */
    readonly rerank: (call: RerankCall) => Effect.Effect<RerankAnswer, GatewayError>
    /** `POST /v1/embeddings`. An empty list returns no vectors, without a request. */
    readonly embeddings: (call: EmbeddingsCall) => Effect.Effect<Embeddings, GatewayError>
    /** `POST /v1/chat/completions`. */
    readonly chat: (call: ChatCall) => Effect.Effect<ChatAnswer, GatewayError>
    /** `POST /v1/chat/completions` with `stream: true`: text parts, then one `end`. */
    readonly chatStream: (call: ChatCall) => Stream.Stream<ChatPart, GatewayError>
    /** `/v1/videos`: create tasks, wait, download. */
    readonly videos: Videos
    /** `/v1/images/generations`: create directly or as tasks, wait, load. */
    readonly images: Images
    /** `GET /v1/models`: the models that the key may call, each with its `extra`. */
    readonly models: Effect.Effect<ReadonlyArray<Model>, GatewayError>
  }
>()("@sluice/core/Gateway") {}
