/** Providers execute the gateway's calls. A provider is a value: operations that it does not have are absent. */
import type { Account, GatewayError, Video } from "@sluice/core"
import type {
  ModelGroup,
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

/** A response: a value to encode, or an upstream's response as it is. */
export type ProviderResponse<A> = A | HttpServerResponse.HttpServerResponse

/** A decoded request, and its body, which may have fields that the contract does not know. */
export interface Call<A> {
  readonly request: A
  readonly body: string
  /** The id of the calling user, who owns a task that the call creates. */
  readonly user: string
  /** The address at which the caller called this server, such as `http://localhost:3000`. Links to files start with it. */
  readonly origin: string
}

/** A call for an existing task of this provider. */
export interface TaskCall {
  readonly task: MediaTask
  readonly origin: string
}

export type TaskOperation<Response> = (
  call: TaskCall
) => Effect.Effect<ProviderResponse<Response>, GatewayError>

/** One attempt of a call. Failover and clients retry, providers do not. */
export type Operation<Request, Response> = (
  call: Call<Request>
) => Effect.Effect<ProviderResponse<Response>, GatewayError>

export interface Operations {
  readonly rerank?: Operation<RerankRequest, RerankResponse>
  readonly embeddings?: Operation<EmbeddingRequest, EmbeddingResponse>
  /** A stream if the request asks for one. */
  readonly chat?: Operation<ChatRequest, ChatResponse | Stream.Stream<ChatEvent>>
  /** Images, or a task. */
  readonly images?: Operation<ImageRequest, ImageResponse>
  readonly videos?: Operation<VideoRequest, Video>
}

/** The operations on existing tasks. */
export interface TaskOperations {
  readonly image?: TaskOperation<ImageResponse>
  readonly video?: TaskOperation<Video>
  /** The MP4, or an error. */
  readonly videoContent?: TaskOperation<HttpServerResponse.HttpServerResponse>
  /** Cancels the task if it is running, and deletes its result. */
  readonly removeVideo?: TaskOperation<void>
}

/** A model of a provider, and its operation. */
export interface ProviderModel {
  readonly id: string
  readonly operation: keyof Operations
  /** The group in the gateway interface, if known. */
  readonly group?: ModelGroup
  /** A description. */
  readonly note?: string
  /** Lower numbers are tried first; 1 when not given. */
  readonly priority?: number
  /** The share of calls among providers of the same priority; 1 when not given. */
  readonly weight?: number
}

/** Fails calls at once while a provider's circuit is open. */
export interface CircuitGuard {
  readonly around: <A>(call: Effect.Effect<A, GatewayError>) => Effect.Effect<A, GatewayError>
  /** Until a call succeeds. */
  readonly isOpen: Effect.Effect<boolean>
}

export interface Provider {
  /** Shown as `owned_by`. */
  readonly id: string
  readonly models: ReadonlyArray<ProviderModel>
  /** Whether the vendor has not listed its models yet. `models` then has at most those that the library names. */
  readonly isUnlisted?: boolean
  /** Operations for which any model is accepted, because the upstream's models are not known. */
  readonly anyModelOf?: ReadonlyArray<keyof Operations>
  readonly operations: Operations
  readonly tasks?: TaskOperations
  readonly guard?: CircuitGuard
  /** The upstream's account, if known: it lists the models. */
  readonly account?: Pick<Account["Service"], "models" | "availableModels">
}
