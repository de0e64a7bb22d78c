/** The transport: undici's dispatcher, with a pool of connections. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Context, Effect, Layer } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { dispatching, IDENTITY } from "./DispatcherTransport.ts"

export interface TransportOptions {
  /** The most connections to the gateway. Default: 16. */
  readonly connections?: number | undefined
  /** The largest response, in bytes. A larger one is `InvalidResponse`. Default: 64 MiB. */
  readonly maxResponseBytes?: number | undefined
}

/** Room for 2,048 vectors of 1,536 JSON numbers. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024
const CONNECTIONS = 16

/**
 * The client for responses of any size: downloads, which are streamed to their destination.
 *
 * Without it, downloads use the program's `HttpClient` with its limits.
 */
export class DownloadTransport extends Context.Service<DownloadTransport, HttpClient.HttpClient>()(
  "@sluice/core/client/DownloadTransport"
) {}

const makePool = Effect.fnUntraced(function* (options: { connections: number; maxResponseSize: number }) {
  const dispatcher = yield* NodeHttpClient.makeDispatcherOptions(options)
  const other = yield* Effect.provideService(NodeHttpClient.makeUndici, NodeHttpClient.Dispatcher, dispatcher)
  const untraced = HttpClient.transform(
    other,
    Effect.provideService(HttpClient.TracerPropagationEnabled, false)
  )
  return dispatching(dispatcher, HttpClient.mapRequest(untraced, HttpClientRequest.setHeaders(IDENTITY)))
})

/** undici's value for no limit. */
const NO_LIMIT = -1

/**
 * A pool of kept-alive connections, and one for downloads. Both close with their scope.
 *
 * **Details.** Redirects are not followed, so that the credential stays with the gateway. Trace headers are not sent,
 * because the gateway is a third party; the client's option `traceparent` sends one. Responses must not be compressed:
 * nothing decompresses them. undici's time-outs are off; Effect's apply.
 */
export const layerTransport = (
  options: TransportOptions = {}
): Layer.Layer<HttpClient.HttpClient | DownloadTransport> => {
  const connections = options.connections ?? CONNECTIONS
  const maxResponseSize = options.maxResponseBytes ?? MAX_RESPONSE_BYTES
  return Layer.mergeAll(
    Layer.effect(HttpClient.HttpClient, makePool({ connections, maxResponseSize })),
    Layer.effect(DownloadTransport, makePool({ connections, maxResponseSize: NO_LIMIT }))
  )
}

/** undici's code and message of a transport error. */
export const transportFault = (cause: unknown): { readonly code: string; readonly message: string } => {
  const error = cause instanceof AggregateError ? cause.errors[0] : cause
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof Error ? String("code" in error && error.code ? error.code : error.name) : ""
  return { code, message: message === "" ? code : message }
}

const BAD_RESPONSE = /^(HPE_|(HTTPParserError|UND_ERR_RES_EXCEEDED_MAX_SIZE|UND_ERR_HEADERS_OVERFLOW)$)/

/** The response is not HTTP, or exceeds a limit. */
export const isBadResponse = (code: string): boolean => BAD_RESPONSE.test(code)

const BROKEN = new Set([
  "ECONNRESET",
  "EPIPE",
  "UND_ERR_SOCKET",
  "UND_ERR_ABORTED",
  "UND_ERR_RES_CONTENT_LENGTH_MISMATCH"
])

/** The connection broke before the response was complete. */
export const isBroken = (code: string): boolean => BROKEN.has(code)

/** No connection was made, so nothing was sent: refused, unknown host, no route, or too slow. */
export const isConnectFailure = (cause: unknown): boolean => {
  if (cause instanceof AggregateError) return cause.errors.length > 0 && cause.errors.every(isConnectFailure)
  if (!(cause instanceof Error)) return false
  const { code } = transportFault(cause)
  if (code === "UND_ERR_CONNECT_TIMEOUT") return true
  const syscall = "syscall" in cause ? cause.syscall : undefined
  return (syscall === "connect" && code !== "ECONNRESET") || syscall === "getaddrinfo"
}
