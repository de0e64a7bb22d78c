/**
 * What holds for every request: a name of ours, a body of bounded size, one shape for every error, a request id, and
 * what a browser may do with the answer.
 */
import { ByteSize, Effect, Stream } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { ServerConfig } from "../config/ServerConfig.ts"
import { Shutdown } from "../operation/Shutdown.ts"
import { observed } from "../operation/Observed.ts"
import { endInTime } from "./EndingStreams.ts"
import { isAllowedHost } from "../network/Origin.ts"
import { answerCause, encoded, foreignHost, noHost, shape, tooLarge } from "./HttpErrors.ts"
import { maxBodyBytes } from "./Limits.ts"
import { behindProxies } from "./Proxies.ts"
import { requestIdOf } from "./RequestId.ts"
import { COMMON_HEADERS } from "./SecurityHeaders.ts"

const isEncoded = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  (headers["content-encoding"] ?? "identity").toLowerCase() !== "identity"

/** Of a stream HEAD is sent nothing, and nobody would run it: whoever gives it, and who counts it, hear of its end so. */
const endUnsent = ({ body }: HttpServerResponse.HttpServerResponse) =>
  body._tag === "Stream"
    ? Effect.timeoutOption(Stream.runHead(Stream.ignoreCause(body.stream)), "1 second")
    : Effect.void

/** The outermost middleware. */
export const EdgeLayer = HttpRouter.middleware(
  Effect.gen(function* () {
    const { host, operation } = yield* ServerConfig
    const shutdown = yield* Shutdown

    /** The answer to what is refused before any of its body is read. */
    const refusalOf = (request: HttpServerRequest.HttpServerRequest, limit: number) => {
      const named = request.headers["host"]
      if (!isAllowedHost(named, host, operation.hosts)) return named === undefined ? noHost : foreignHost
      if (Number(request.headers["content-length"] ?? 0) > limit) return tooLarge(limit)
      return isEncoded(request) ? encoded : undefined
    }

    return (route) =>
      Effect.gen(function* () {
        const request = behindProxies(yield* HttpServerRequest.HttpServerRequest, operation.isTrustedProxy)
        const id = requestIdOf(request.headers["x-request-id"])
        const limit = maxBodyBytes(request.url)
        const handle = route.pipe(
          Effect.provideService(HttpServerRequest.HttpServerRequest, request),
          Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(limit)),
          Effect.catchCause((cause) => answerCause(cause, request)),
          Effect.map((response) => shape(response, limit))
        )
        const refusal = refusalOf(request, limit)
        const answer =
          refusal === undefined ? Effect.annotateLogs(handle, "request", id) : Effect.succeed(refusal)
        const response = yield* observed(request, id, operation.logRequests, answer)
        if (request.method === "HEAD") yield* endUnsent(response)
        return HttpServerResponse.setHeaders(endInTime(response, shutdown), {
          ...COMMON_HEADERS,
          ...response.headers,
          "x-request-id": id,
          ...(shutdown.hasBegun() && { connection: "close" })
        })
      })
  }),
  { global: true }
)
