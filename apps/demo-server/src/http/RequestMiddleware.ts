/**
 * The middleware of every request: allowed host, size limit, request id, one form of errors, response headers, metrics
 * and the request's line in the log.
 */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { ByteSize, Clock, Context, Effect, References, Stream } from "effect"
import { HttpBody, HttpIncomingMessage, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { ServerConfig } from "../config/ServerConfig.ts"
import { isAllowedHost } from "../network/Origin.ts"
import { finalEvent } from "../wire/ServerSentEvents.ts"
import {
  answerCause,
  unsupportedEncoding,
  hostNotAllowed,
  notOneHost,
  toInterfaceError,
  shuttingDown,
  bodyTooLarge
} from "./HttpErrors.ts"
import { maxBodyBytes } from "./Limits.ts"
import { behindProxies } from "./Proxies.ts"
import { countRequest } from "./RequestMetrics.ts"
import { CurrentRequest, chooseRequestId, type RequestRecord } from "./RequestRecord.ts"
import { isProbe, routeOf } from "./Routes.ts"
import { COMMON_HEADERS } from "./ResponseHeaders.ts"
import { Shutdown } from "./Shutdown.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** Methods of RFC 9110. Any other is counted as `other`. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

/** nginx's status for a caller that did not wait for its response. It is logged, and never sent. */
const CLIENT_CLOSED_REQUEST = 499

/** Runs an effect when a stream of a response ends; at once if the response is no stream. */
const afterBody = (response: Response, after: Effect.Effect<void>): Effect.Effect<Response> => {
  const { body } = response
  if (body._tag !== "Stream") return Effect.as(after, response)
  const stream = HttpBody.stream(Stream.ensuring(body.stream, after), body.contentType, body.contentLength)
  return Effect.succeed(HttpServerResponse.setBody(response, stream))
}

/** Clients of `/v1` and of the documents read it as an error. */
const SHUTTING_DOWN = finalEvent({ type: "error", error: shuttingDown.body.error })

/** Streams of server-sent events end with an error when the server stops, and nginx does not buffer them. */
const withStreamEnd = (
  request: Request,
  response: Response,
  { isOver, onOver }: Shutdown["Service"]
): Response => {
  const { body } = response
  if (body._tag !== "Stream" || !body.contentType.startsWith("text/event-stream")) return response
  // To race each part of the stream with the shutdown costs 100 µs a stream.
  const stream = Stream.unwrap(
    Effect.withFiber((fiber) => {
      const forget = onOver(() => fiber.interruptUnsafe())
      return Effect.succeed(
        Stream.onExit(body.stream, () =>
          Effect.sync(() => {
            forget()
            if (isOver()) NodeHttpServerRequest.toServerResponse(request).end(SHUTTING_DOWN)
          })
        )
      )
    })
  )
  return HttpServerResponse.setHeader(
    HttpServerResponse.setBody(response, HttpBody.stream(stream, body.contentType)),
    "x-accel-buffering",
    "no"
  )
}

/** HEAD gets no body: a stream is opened and closed, so that its finalizers run. */
const closeStream = ({ body }: Response) =>
  body._tag === "Stream"
    ? Effect.timeoutOption(Stream.runHead(Stream.ignoreCause(body.stream)), "1 second")
    : Effect.void

/** Proxies disagree about which of several is meant (RFC 9112, 3.2). */
const hasOneHost = (request: Request): boolean =>
  NodeHttpServerRequest.toIncomingMessage(request).rawHeaders.filter(
    (text, at) => at % 2 === 0 && text.toLowerCase() === "host"
  ).length === 1

const isEncoded = ({ headers }: Request): boolean =>
  (headers["content-encoding"] ?? "identity").toLowerCase() !== "identity"

/** Adds the services of a request. To merge another context costs more: it copies all of the server's services. */
const contextOf = (
  context: Context.Context<never>,
  request: Request,
  id: string,
  limit: number,
  record: { now: RequestRecord }
) =>
  context.pipe(
    Context.add(HttpServerRequest.HttpServerRequest, request),
    Context.add(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(limit)),
    Context.add(CurrentRequest, record),
    Context.add(References.CurrentLogAnnotations, {
      ...Context.get(context, References.CurrentLogAnnotations),
      request: id
    })
  )

export const RequestMiddlewareLayer = HttpRouter.middleware(
  Effect.gen(function* () {
    const { host, operation } = yield* ServerConfig
    const shutdown = yield* Shutdown

    /** Refuses a request before its body is read. */
    const refusalOf = (request: Request, limit: number): Response | undefined => {
      if (!hasOneHost(request)) return notOneHost
      if (!isProbe(request.url) && !isAllowedHost(request.headers["host"], host, operation.hosts)) {
        return hostNotAllowed
      }
      if (Number(request.headers["content-length"] ?? 0) > limit) return bodyTooLarge(limit)
      return isEncoded(request) ? unsupportedEncoding : undefined
    }

    return (route) =>
      Effect.gen(function* () {
        const context = yield* Effect.context<HttpServerRequest.HttpServerRequest>()
        const clock = Context.get(context, Clock.Clock)
        const started = clock.currentTimeMillisUnsafe()
        const received = Context.get(context, HttpServerRequest.HttpServerRequest)
        const request = behindProxies(received, operation.isTrustedProxy)
        const id = chooseRequestId(request.headers["x-request-id"])
        const limit = maxBodyBytes(request.url)
        const record: { now: RequestRecord } = { now: {} }

        /** Counts the request, and logs it if configured. */
        const finish = (status: number) =>
          Effect.suspend(() => {
            const finished = {
              ...record.now,
              method: METHODS.has(request.method) ? request.method : "other",
              route: routeOf(request.url),
              status,
              ms: clock.currentTimeMillisUnsafe() - started
            }
            countRequest(context, finished)
            return operation.logRequests
              ? Effect.annotateLogs(Effect.logInfo("request"), { request: id, ...finished })
              : Effect.void
          })

        const handled = route.pipe(
          Effect.catchCause((cause) => answerCause(cause, request)),
          Effect.updateContext((context: Context.Context<never>) =>
            contextOf(context, request, id, limit, record)
          ),
          Effect.tapCause(() => finish(CLIENT_CLOSED_REQUEST))
        )
        const answer = refusalOf(request, limit) ?? toInterfaceError(yield* handled, limit)
        // An uninterruptible call continues after its caller has disconnected.
        const hasGone = NodeHttpServerRequest.toServerResponse(request).destroyed
        const response = yield* afterBody(answer, finish(hasGone ? CLIENT_CLOSED_REQUEST : answer.status))
        if (request.method === "HEAD") yield* closeStream(response)
        return HttpServerResponse.setHeaders(withStreamEnd(request, response, shutdown), {
          ...COMMON_HEADERS,
          ...response.headers,
          "x-request-id": id,
          ...(shutdown.hasBegun() && { connection: "close" })
        })
      })
  }),
  { global: true }
)
