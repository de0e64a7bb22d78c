/** What answers the gateway's calls. A provider is a value: what it does not offer is absent from it. */
import type {
  Account,
  ChatEvent,
  ChatRequest,
  ChatResponse,
  EmbeddingRequest,
  EmbeddingResponse,
  GatewayError,
  RerankRequest,
  RerankResponse
} from "@sluice/core"
import type { Effect, Stream } from "effect"
import type { HttpServerResponse } from "effect/http"

/** An answer on its way out: a value to be encoded, or an upstream's own bytes, which nobody decodes. */
export type Answer<A> = A | HttpServerResponse.HttpServerResponse

/** What a caller sent: the request as decoded, and the body as it came, with the fields that we do not know. */
export interface Call<A> {
  readonly request: A
  readonly body: string
}

/** One call in, one wire answer out. No retry inside: failover belongs to whoever chooses among providers. */
export type Operation<Request, Response> = (
  call: Call<Request>
) => Effect.Effect<Answer<Response>, GatewayError>

export interface Operations {
  readonly rerank?: Operation<RerankRequest, RerankResponse>
  readonly embeddings?: Operation<EmbeddingRequest, EmbeddingResponse>
  /** A stream when the request asks for one. */
  readonly chat?: Operation<ChatRequest, ChatResponse | Stream.Stream<ChatEvent>>
}

/** A model that a provider serves, and with which operation. */
export interface ProviderModel {
  readonly id: string
  readonly operation: keyof Operations
}

export interface Provider {
  /** Shown as `owned_by`. */
  readonly id: string
  readonly models: ReadonlyArray<ProviderModel>
  readonly operations: Operations
  /** The account there, when one is known: it says itself which models there are. */
  readonly account?: Pick<Account["Service"], "models" | "availableModels">
}
