/** The headers that requests have beside those of their endpoint: the program's, the idempotency key, the trace. */
import { Context, Effect, Record, Redacted, Tracer } from "effect"
import { HttpClient, HttpClientRequest, HttpTraceContext } from "effect/http"
import { PACKAGE_VERSION } from "../../contract/GatewayApi.ts"

/** The `Idempotency-Key` of the current call. Undefined for other calls than creations, unless the program sets it. */
export const IdempotencyKey = Context.Reference<string | undefined>("@sluice/core/IdempotencyKey", {
  defaultValue: () => undefined
})

/**
 * Uses this idempotency key instead of a random one for the creations of an effect.
 *
 * **When to use.** To repeat a creation after a crash with a key that was stored before.
 *
 * **Gotchas.** All creations of the effect share the key: wrap one. The interface does not define the header, and some
 * gateways ignore it.
 */
export const withIdempotencyKey =
  (key: string) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.provideService(self, IdempotencyKey, key)

export type RequestHeaders = Readonly<Record<string, string | Redacted.Redacted>>

const AGENT = { "user-agent": `sluice/${PACKAGE_VERSION}` }

/** The user agent and the program's headers. */
export const ownHeaders = (headers: RequestHeaders = {}): Readonly<Record<string, string>> => ({
  ...AGENT,
  ...Record.map(headers, (value) => (Redacted.isRedacted(value) ? Redacted.value(value) : value))
})

/** Whether a request goes to the gateway's host. A path is prefixed with the base URL later. */
const isToGateway = (origin: string, { url }: HttpClientRequest.HttpClientRequest): boolean =>
  url.startsWith("/") || URL.parse(url)?.origin === origin

/** A span of a disabled tracer has no ids. */
const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/

/** A client that sends the call's span as `traceparent`, to the gateway's host only. */
export const withTraceparent = (
  client: HttpClient.HttpClient,
  baseUrl: string,
  isEnabled: boolean | undefined
): HttpClient.HttpClient => {
  if (isEnabled !== true) return client
  const { origin } = new URL(baseUrl)
  return HttpClient.mapRequestEffect(client, (request) =>
    Effect.contextWith((context: Context.Context<never>) => {
      const span = Context.getOrUndefined(context, Tracer.ParentSpan)
      const traceparent = span?._tag === "Span" ? (HttpTraceContext.toHeaders(span)["traceparent"] ?? "") : ""
      const isSent = isToGateway(origin, request) && TRACEPARENT.test(traceparent)
      return Effect.succeed(
        isSent ? HttpClientRequest.setHeader(request, "traceparent", traceparent) : request
      )
    })
  )
}

/** A client with the user agent, and with the program's headers for requests to the gateway: not for those to other hosts. */
export const withHeaders = (
  client: HttpClient.HttpClient,
  baseUrl: string,
  headers: RequestHeaders | undefined
): HttpClient.HttpClient => {
  const { origin } = new URL(baseUrl)
  const own = ownHeaders(headers)
  return HttpClient.mapRequest(client, (request) =>
    HttpClientRequest.setHeaders(request, isToGateway(origin, request) ? own : AGENT)
  )
}
