/** A gateway as the library asks it: within its upstream's limits, and what it refuses is never its reader's fault. */
import {
  type ChatCall,
  type ChatPart,
  Gateway,
  GatewayError,
  PartialFailure,
  ServerFailure
} from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { Context, type Duration, Effect, Layer, Stream } from "effect"
import type { Gateway as Upstream } from "../routing/Forward.ts"
import { blameUs } from "../routing/UpstreamFaults.ts"

/** Hears what a chat model writes, piece by piece; may end it. */
export type HearChat = (
  call: ChatCall,
  parts: Stream.Stream<ChatPart, GatewayError>
) => Stream.Stream<ChatPart, GatewayError>

/** Of the streams that are read for a reader; nobody when not given. */
export const CurrentHearChat = Context.Reference<HearChat>("@sluice/demo-server/CurrentHearChat", {
  defaultValue: () => (_call, parts) => parts
})

/** The request is the server's own: whoever asks documents has no field in it, and no model. */
const REFUSED: ReadonlySet<GatewayError["reason"]["_tag"]> = new Set([
  "InvalidRequest",
  "Forbidden",
  "NotFound"
])

/** What the gateway refuses of the library. */
const blameLibrary = (names: Upstream["names"]) => {
  const ofServer = blameUs(names)
  const blame = (error: GatewayError): GatewayError => {
    const { attempt, reason } = error
    if (reason._tag === "PartialFailure") {
      const first = blame(new GatewayError({ ...error, reason: reason.first })).reason
      if (first._tag === "PartialFailure") return error
      const partial = new PartialFailure({ ...reason, message: reason.message, first })
      return new GatewayError({ ...error, reason: partial })
    }
    const blamed = ofServer(error)
    if (blamed !== error || attempt === undefined || !REFUSED.has(reason._tag)) return blamed
    const message = `The gateway refuses what this server asks of it: ${reason.message}`
    return new GatewayError({ ...error, reason: new ServerFailure({ message, status: 502, final: true }) })
  }
  return blame
}

/** How long a model is waited for, and how many texts it takes. */
export interface LibraryModelOptions {
  /** Until the whole answer, or the head of a stream. */
  readonly timeout: Duration.Duration
  readonly batch?: number | undefined
}

/** `Gateway` for the library's models. */
export const layerLibraryGateway = (
  { apiKey, idle, names, url }: Upstream & { readonly url: string },
  { batch, timeout }: LibraryModelOptions
) => {
  const blame = blameLibrary(names)
  return Layer.effect(
    Gateway,
    Effect.map(Gateway, (gateway) =>
      Gateway.of({
        ...gateway,
        embeddings: (call) => Effect.mapError(gateway.embeddings(call), blame),
        rerank: (call) => Effect.mapError(gateway.rerank(call), blame),
        chat: (call) => Effect.mapError(gateway.chat(call), blame),
        chatStream: (call) =>
          Stream.unwrap(
            Effect.map(CurrentHearChat, (hear) =>
              hear(call, Stream.mapError(gateway.chatStream(call), blame))
            )
          )
      })
    )
  ).pipe(
    Layer.provide(
      GatewayClient.layer({
        baseUrl: url,
        apiKey,
        attemptTimeout: timeout,
        callTimeout: timeout,
        idleTimeout: idle,
        ...(batch !== undefined && { embeddings: { texts: batch } })
      })
    )
  )
}
