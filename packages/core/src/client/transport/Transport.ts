/** The transport: undici, through Effect's HTTP client for Node, or straight where an answer is read whole (Whole.ts). */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Context, Effect, Layer } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { buffering } from "./BufferedTransport.ts"

export interface TransportOptions {
  /** Connections to the gateway at most. */
  readonly connections?: number
  /** Bytes of one answer at most; a larger one is `InvalidResponse`. */
  readonly maxResponseBytes?: number
}

/** Room for 2,048 vectors of 1,536 JSON numbers. */
export const MAX_RESPONSE_BYTES = 64 * 1024 * 1024
export const CONNECTIONS = 16

/**
 * The client for answers of any size: downloads, whose bytes go where they belong as they come.
 *
 * Where a program provides a transport without it, downloads take that one, with whatever limit it has.
 */
export class DownloadTransport extends Context.Service<DownloadTransport, HttpClient.HttpClient>()(
  "@sluice/core/client/DownloadTransport"
) {}

const makePool = Effect.fnUntraced(function* (options: { connections: number; maxResponseSize: number }) {
  const dispatcher = yield* NodeHttpClient.makeDispatcherOptions(options)
  const streaming = yield* Effect.provideService(
    NodeHttpClient.makeUndici,
    NodeHttpClient.Dispatcher,
    dispatcher
  )
  return buffering(dispatcher, streaming).pipe(
    HttpClient.mapRequest(HttpClientRequest.setHeader("accept-encoding", "identity")),
    HttpClient.transform((response) =>
      Effect.provideService(response, HttpClient.TracerPropagationEnabled, false)
    )
  )
})

/** undici's word for it. */
const NO_LIMIT = -1

/**
 * A pool of kept-alive connections, and one for downloads, closed with their scope.
 *
 * **Details.** Redirects are not followed here: a credential goes only where it was meant to go. Trace headers are not sent:
 * the gateway is a third party. Nor does it ask for a compressed answer, which nothing here would open. undici's own time-outs are off, Effect's rule.
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

/** How the transport names what went wrong with a connection or with an answer's bytes. */
export const transportFault = (cause: unknown): { readonly code: string; readonly message: string } => {
  const error = cause instanceof AggregateError ? cause.errors[0] : cause
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof Error ? String("code" in error && error.code ? error.code : error.name) : ""
  return { code, message: message === "" ? code : message }
}

/** Bytes came that are no HTTP, or more of them than allowed: the answer is at fault, not the connection. */
export const isBadAnswer = (code: string): boolean =>
  code.startsWith("HPE_") ||
  code === "HTTPParserError" ||
  code === "UND_ERR_RES_EXCEEDED_MAX_SIZE" ||
  code === "UND_ERR_HEADERS_OVERFLOW"

/** The connection broke before the whole answer had come. */
export const isBroken = (code: string): boolean =>
  code === "ECONNRESET" ||
  code === "EPIPE" ||
  code === "UND_ERR_SOCKET" ||
  code === "UND_ERR_ABORTED" ||
  code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH"

/** No connection came about, so that no byte of the request was sent: refused, no such host, no route, or in time. */
export const isConnectFailure = (cause: unknown): boolean => {
  if (cause instanceof AggregateError) return cause.errors.length > 0 && cause.errors.every(isConnectFailure)
  if (!(cause instanceof Error)) return false
  const { code } = transportFault(cause)
  if (code === "UND_ERR_CONNECT_TIMEOUT") return true
  const syscall = "syscall" in cause ? cause.syscall : undefined
  return (syscall === "connect" && code !== "ECONNRESET") || syscall === "getaddrinfo"
}
