/** What answers the gateway's calls. A provider is a value: what it does not offer is absent from it. */
import type { Account, GatewayError, ModelGroup, Video } from "@sluice/core"
import type {
  ChatEvent,
  ChatRequest,
  ChatResponse,
  EmbeddingRequest,
  EmbeddingResponse,
  ImageRequest,
  ImageResponse,
  RerankRequest,
  RerankResponse,
  VideoRequest
} from "@sluice/core/contract"
import type { Effect, Stream } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { MediaTask } from "../media/MediaTasks.ts"

/** An answer on its way out: a value to be encoded, or an upstream's own bytes, which nobody decodes. */
export type ProviderAnswer<A> = A | HttpServerResponse.HttpServerResponse

/** What a caller sent: the request as decoded, and the body as it came, with the fields that we do not know. */
export interface Call<A> {
  readonly request: A
  readonly body: string
  /** Who calls: what is made as a task belongs to them. */
  readonly user: string
  /** Where this server is for the caller, such as `http://localhost:3000`: links to files begin so. */
  readonly origin: string
}

/** A later call for a task that this provider makes, by whoever had it made. */
export interface TaskCall {
  readonly task: MediaTask
  readonly origin: string
}

/** One of the later calls. */
export type TaskOperation<Response> = (
  call: TaskCall
) => Effect.Effect<ProviderAnswer<Response>, GatewayError>

/** One call in, one wire answer out. No retry inside: failover belongs to whoever chooses among providers. */
export type Operation<Request, Response> = (
  call: Call<Request>
) => Effect.Effect<ProviderAnswer<Response>, GatewayError>

export interface Operations {
  readonly rerank?: Operation<RerankRequest, RerankResponse>
  readonly embeddings?: Operation<EmbeddingRequest, EmbeddingResponse>
  /** A stream when the request asks for one. */
  readonly chat?: Operation<ChatRequest, ChatResponse | Stream.Stream<ChatEvent>>
  /** Images at once, or a task. */
  readonly images?: Operation<ImageRequest, ImageResponse>
  readonly videos?: Operation<VideoRequest, Video>
}

/** What a provider that makes tasks answers of them. */
export interface TaskOperations {
  readonly image?: TaskOperation<ImageResponse>
  readonly video?: TaskOperation<Video>
  /** The MP4, or why there is none. */
  readonly videoContent?: TaskOperation<HttpServerResponse.HttpServerResponse>
  /** Ends it if it is under way; what was made is gone. */
  readonly removeVideo?: TaskOperation<void>
}

/** A model that a provider serves, and with which operation. */
export interface ProviderModel {
  readonly id: string
  readonly operation: keyof Operations
  /** Of the interface's groups, where it is known. */
  readonly group?: ModelGroup
  /** What it is and is not. */
  readonly note?: string
  /** Of several providers of a model, that with the lowest number is asked first; 1 when not given. */
  readonly priority?: number
  /** Its share of the calls among those of the same priority; 1 when not given. */
  readonly weight?: number
}

/** Skips a provider that keeps failing. */
export interface CircuitGuard {
  readonly around: <A>(call: Effect.Effect<A, GatewayError>) => Effect.Effect<A, GatewayError>
}

export interface Provider {
  /** Shown as `owned_by`. */
  readonly id: string
  readonly models: ReadonlyArray<ProviderModel>
  /** Operations of which it takes any model, because nobody here knows which it has. */
  readonly anyModelOf?: ReadonlyArray<keyof Operations>
  readonly operations: Operations
  readonly tasks?: TaskOperations
  readonly guard?: CircuitGuard
  /** The account there, when one is known: it says itself which models there are. */
  readonly account?: Pick<Account["Service"], "models" | "availableModels">
}
