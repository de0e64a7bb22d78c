/** The gateway behind the library's models. What it rejects is a fault of the server, not of the library's user. */
import {
  type ChatCall,
  type ChatPart,
  Gateway,
  GatewayError,
  PartialFailure,
  ServerFailure,
  TimedOut
} from "@sluice/core"
import { gateway, layerVendorGateway } from "@sluice/providers"
import { Context, Duration, Effect, Layer, Stream } from "effect"
import type { UpstreamConnection } from "../routing/UpstreamClient.ts"
import { countUpstreamCall, startUpstreamCall } from "../routing/UpstreamMetrics.ts"
import { rewordConfigurationErrors } from "../routing/UpstreamFaults.ts"
import { STREAM_LIFE } from "../routing/UpstreamResponse.ts"

/** Sees the parts of a chat stream, and may end it. */
export type ChatInterceptor = (
  call: ChatCall,
  parts: Stream.Stream<ChatPart, GatewayError>
) => Stream.Stream<ChatPart, GatewayError>

/** The interceptor of the current fiber's chat streams. The default changes nothing. */
export const CurrentChatInterceptor = Context.Reference<ChatInterceptor>(
  "@sluice/demo-server/CurrentChatInterceptor",
  { defaultValue: () => (_call, parts) => parts }
)

/** Faults of the request. The server wrote the request, so its user cannot correct it. */
const REQUEST_FAULTS: ReadonlySet<GatewayError["reason"]["_tag"]> = new Set([
  "InvalidRequest",
  "Forbidden",
  "NotFound"
])

/** Turns errors about the request into errors of the server. */
const rewordLibraryErrors = (names: UpstreamConnection["names"]) => {
  const rewordConfiguration = rewordConfigurationErrors(names)
  const reword = (error: GatewayError): GatewayError => {
    const { attempt, reason } = error
    if (reason._tag === "PartialFailure") {
      const first = reword(new GatewayError({ ...error, reason: reason.first })).reason
      if (first._tag === "PartialFailure") return error
      const partial = new PartialFailure({ ...reason, message: reason.message, first })
      return new GatewayError({ ...error, reason: partial })
    }
    const reworded = rewordConfiguration(error)
    if (reworded !== error || attempt === undefined || !REQUEST_FAULTS.has(reason._tag)) return reworded
    const message = `The gateway rejects this server's request: ${reason.message}`
    return new GatewayError({ ...error, reason: new ServerFailure({ message, status: 502, final: true }) })
  }
  return reword
}

const expired = (model: string) =>
  new GatewayError({
    operation: "chat",
    model,
    reason: new TimedOut({
      message: `The gateway's stream did not end within ${Duration.format(STREAM_LIFE)}`,
      scope: "call",
      after: STREAM_LIFE
    })
  })

/** Limits of a model's calls. */
interface LibraryModelOptions {
  /** Until the whole response, or the head of a stream. */
  readonly timeout: Duration.Duration
  /** Texts of one embeddings request at most. */
  readonly batch?: number | undefined
}

/** `Gateway` for the library's models. */
export const layerLibraryGateway = (
  upstream: UpstreamConnection & { readonly id: string },
  { batch, timeout }: LibraryModelOptions
) => {
  const reword = rewordLibraryErrors(upstream.names)
  const labels = (operation: string) => ({ upstream: upstream.id, operation, group: operation })
  const counted = <A>(operation: string, call: Effect.Effect<A, GatewayError>) =>
    Effect.mapError(countUpstreamCall(labels(operation))(call), reword)
  const countedStream = <A>(stream: Stream.Stream<A, GatewayError>) =>
    Stream.unwrap(Effect.map(startUpstreamCall(labels("chat")), (end) => Stream.onExit(stream, end)))
  return Layer.effect(
    Gateway,
    Effect.map(Gateway, (gateway) =>
      Gateway.of({
        ...gateway,
        embeddings: (call) => counted("embeddings", gateway.embeddings(call)),
        rerank: (call) => counted("rerank", gateway.rerank(call)),
        chat: (call) => counted("chat", gateway.chat(call)),
        chatStream: (call) =>
          Stream.unwrap(
            Effect.map(CurrentChatInterceptor, (intercept) =>
              intercept(call, Stream.mapError(countedStream(gateway.chatStream(call)), reword)).pipe(
                Stream.interruptWhen(Effect.delay(Effect.fail(expired(call.model)), STREAM_LIFE))
              )
            )
          )
      })
    )
  ).pipe(
    Layer.provide(
      layerVendorGateway(
        { dialect: gateway, ...upstream },
        {
          attemptTimeout: timeout,
          callTimeout: timeout,
          idleTimeout: upstream.idle,
          ...(batch !== undefined && { embeddings: { texts: batch } })
        }
      )
    )
  )
}
