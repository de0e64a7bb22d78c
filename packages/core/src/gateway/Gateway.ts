/** The service behind `/v1`, with an API key: rerank, embeddings, chat, images, videos, and which models there are. */
import { Context, type Effect, type Stream } from "effect"
import type { ChatMessage } from "../contract/Chat.ts"
import type { Model } from "../contract/Models.ts"
import type { Extra } from "../contract/Fields.ts"
import type { GatewayError } from "../contract/GatewayError.ts"
import type { Images } from "./Images.ts"
import type { Videos } from "./Videos.ts"

/** A query and the documents to order by their relevance to it. */
export interface RerankCall {
  readonly model: string
  readonly query: string
  readonly documents: ReadonlyArray<string>
  /** Only the best N. 0 gives none, without a request; more than there are gives all. */
  readonly topN?: number
  /** Whether the gateway sends the documents' texts back. */
  readonly returnDocuments?: boolean
  /** Fields that the interface does not name, by their names on the wire: sent beside the others as they are. */
  readonly extra?: Extra
}

/** Which answer it is and which model gave it, where the gateway says: often a dated name of the model asked for. */
export interface Origin {
  readonly id?: string
  readonly model?: string
}

/** The documents in order, by their positions. */
export interface Reranked extends Origin {
  /** Best first; `index` into the documents given, each at most once; `score` in the model's own range. */
  readonly results: ReadonlyArray<{
    readonly index: number
    readonly score: number
    readonly document?: string
  }>
  /** As the gateway counted; 0 where it does not say. */
  readonly tokens: number
  /** Cohere's `meta`, as it came: `billed_units`, `warnings`. */
  readonly meta?: Extra
  /** What the answer says beyond the interface, at the place where it stood. */
  readonly extra?: Extra
}

/** Texts to turn into vectors. */
export interface EmbeddingsCall {
  readonly model: string
  /** Any number of texts; the client splits them into requests. */
  readonly input: ReadonlyArray<string>
  /** Fields that the interface does not name, such as `dimensions`, by their names on the wire: sent with each request. */
  readonly extra?: Extra
}

/** The vectors of some texts. */
export interface Embeddings {
  /**
   * One a text, in the order of the texts, all of one dimension, finite: the gateway's numbers, not normalised. Several may
   * lie in one memory: `vector.buffer` is not one vector's.
   */
  readonly vectors: ReadonlyArray<Float32Array>
  /** As the gateway counted; 0 where it does not say. */
  readonly tokens: number
  /** As the gateway names it, where it does; of several requests the first that says it. */
  readonly model?: string
  /** What the answers say beyond the interface, each at the place where it stood: one a request that says something. */
  readonly extra?: ReadonlyArray<Extra>
}

/** What a chat model is asked: texts, and images that `userMessage` puts into a message. */
export interface ChatCall {
  readonly model: string
  readonly messages: ReadonlyArray<ChatMessage>
  readonly maxTokens?: number
  /** 0 to 2. */
  readonly temperature?: number
  /** Fields that the interface does not name, such as `top_p` or `stop`, by their names on the wire: sent as they are. */
  readonly extra?: Extra
}

/** How an answer ended, and what it cost in tokens; 0 where the gateway does not say. */
export interface ChatEnd extends Origin {
  /** `stop`, `length`, `content_filter`, … as the model says. */
  readonly finishReason?: string
  readonly promptTokens: number
  readonly completionTokens: number
  /** Where the gateway says; more than the two together where it counts more, such as reasoning. */
  readonly totalTokens?: number
  /** Seconds since 1970, where the gateway says. */
  readonly created?: number
  /** What the answer says beyond the interface, at the place where it stood: `{ choices: [{ message: … }] }`. */
  readonly extra?: Extra
}

/** A whole answer. */
export interface ChatAnswer extends ChatEnd {
  /** Empty where the model asks tools in its place: what it asks is in `extra`. */
  readonly text: string
}

/**
 * A piece of text as it comes, or the end.
 *
 * `extra` is what an event says beyond the interface, such as `{ choices: [{ delta: { reasoning_content: "…" } }] }`; the
 * text beside it may be empty.
 */
export type ChatPart =
  | { readonly type: "text"; readonly text: string; readonly extra?: Extra }
  | ({ readonly type: "end" } & ChatEnd)

/**
 * The gateway's models.
 *
 * **When to use.** For the calls themselves. Retrieval asks for `Embedder`, `Reranker` and `Reader` instead, which
 * `GatewayEmbedder`, `GatewayReranker` and `GatewayReader` derive from this service.
 *
 * **Details.** `GatewayClient.layer` in `@sluice/core/client` implements it over HTTP. Every answer is checked before
 * it is given out: count, index range, duplicates, dimension, finiteness.
 *
 * **Gotchas.** `embeddings` of several requests fails with `PartialFailure` when some of them succeeded. A failure of
 * `chatStream` after its first part is not retried: what was emitted cannot be taken back.
 */
export class Gateway extends Context.Service<
  Gateway,
  {
    /** `POST /v1/rerank`. No documents give no results, without a request. */
    readonly rerank: (call: RerankCall) => Effect.Effect<Reranked, GatewayError>
    /** `POST /v1/embeddings`. No texts give no vectors, without a request. */
    readonly embeddings: (call: EmbeddingsCall) => Effect.Effect<Embeddings, GatewayError>
    /** `POST /v1/chat/completions`. */
    readonly chat: (call: ChatCall) => Effect.Effect<ChatAnswer, GatewayError>
    /** `POST /v1/chat/completions` with `stream: true`: text as it comes, then one `end`. */
    readonly chatStream: (call: ChatCall) => Stream.Stream<ChatPart, GatewayError>
    /** `/v1/videos`: made as tasks, waited for, downloaded. */
    readonly videos: Videos
    /** `/v1/images/generations`: made at once or as tasks, waited for, loaded. */
    readonly images: Images
    /** `GET /v1/models`: the models that the key may call, each with its `extra`; what stands around the list is not given out. */
    readonly models: Effect.Effect<ReadonlyArray<Model>, GatewayError>
  }
>()("@sluice/core/Gateway") {}
