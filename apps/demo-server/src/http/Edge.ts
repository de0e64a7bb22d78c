/**
 * What holds for every request: a name of ours, a body of bounded size, one shape for every error, a request id.
 */
import { Failure } from "@sluice/core"
import { ByteSize, Cause, Effect } from "effect"
import {
  HttpIncomingMessage,
  HttpRouter,
  HttpServerError,
  HttpServerRequest,
  HttpServerResponse
} from "effect/http"
import { randomUUID } from "node:crypto"
import { ServerConfig } from "../Config.ts"
import { isOurHost } from "./Hosts.ts"
import { maxBodyBytes } from "./Limits.ts"
import { methodsOf } from "./Routes.ts"

type Response = HttpServerResponse.HttpServerResponse

/** A failure as a response, for what goes wrong before or after the contract's own handling. */
const respond = (
  failure: Failure,
  status: number = failure.status,
  headers: Record<string, string> = {}
): Response =>
  HttpServerResponse.jsonUnsafe(failure.body, { status, headers: { ...failure.headers, ...headers } })

const final = (status: Failure["status"], code: string, message: string) =>
  new Failure({ status, message, code, retryable: false })

const tooLarge = (limit: number): Response =>
  respond(
    final(
      413,
      "too_large",
      `The body is larger than the ${limit} bytes that are read here: send less at once`
    ),
    413,
    { connection: "close" }
  )

/** Characters of a path that are repeated in a message at most. */
const SHOWN = 100

const notThere = ({ method, url }: HttpServerRequest.HttpServerRequest): Response => {
  const path = (url.split("?", 1)[0] ?? "").slice(0, SHOWN)
  const methods = methodsOf(url)
  if (methods.length === 0 || methods.includes(method)) {
    return respond(final(404, "route_not_found", `There is no ${path} here: /docs lists what there is`))
  }
  const allow = methods.join(", ")
  return respond(final(400, "method_not_allowed", `${path} takes ${allow}, not ${method}`), 405, { allow })
}

/** What statuses mean that the framework answers without a body of ours. */
const bare: Partial<Record<number, Failure>> = {
  400: final(
    400,
    "malformed_request",
    "The request could not be read: see /docs for what it should look like"
  ),
  413: final(413, "too_large", "The body is larger than what is read here: send less at once"),
  415: final(
    415,
    "unsupported_media_type",
    "This content-type is not read here: see /docs for the one that is"
  )
}

const ours = final(
  500,
  "internal",
  "The server failed: please report, with the x-request-id and what its log says"
)

/** A small compressed body could become a huge one: none is decompressed, and none is taken for what it is not. */
const isEncoded = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  (headers["content-encoding"] ?? "identity").toLowerCase() !== "identity"

const encoded = respond(
  final(415, "unsupported_content_encoding", "Compressed bodies are not read here: send it as it is"),
  415,
  { "accept-encoding": "identity" }
)

const isNotFound = (error: unknown): boolean =>
  HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound"

const typeOf = ({ body, headers }: Response): string =>
  headers["content-type"] ?? ("contentType" in body ? String(body.contentType) : "")

/** Errors that are not in our shape yet: plain text or nothing in the body. */
const shape = (response: Response, limit: number): Response => {
  if (response.status < 400 || typeOf(response).startsWith("application/json")) return response
  if (response.status === 413) return tooLarge(limit)
  const failure = bare[response.status]
  return failure === undefined ? (response.status >= 500 ? respond(ours) : response) : respond(failure)
}

/** The outermost middleware. */
export const EdgeLayer = HttpRouter.middleware(
  Effect.gen(function* () {
    const { host } = yield* ServerConfig
    return (route) =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const id = `req_${randomUUID()}`
        const limit = maxBodyBytes(request.url)

        const handle = Effect.gen(function* () {
          if (!isOurHost(request.headers["host"], host)) {
            return respond(
              final(
                403,
                "host_not_allowed",
                "The server is bound to this machine: call it by localhost or 127.0.0.1"
              )
            )
          }
          if (Number(request.headers["content-length"] ?? 0) > limit) return tooLarge(limit)
          if (isEncoded(request)) return encoded
          return yield* route.pipe(
            Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(limit)),
            Effect.catchCause((cause) => {
              if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause)
              const error = Cause.squash(cause)
              if (isNotFound(error)) return Effect.succeed(notThere(request))
              return Effect.flatMap(HttpServerError.causeResponse(cause), ([response]) =>
                response.status < 500
                  ? Effect.succeed(response)
                  : Effect.as(Effect.logError("A request failed", cause), respond(ours))
              )
            }),
            Effect.map((response) => shape(response, limit))
          )
        })

        const response = yield* Effect.annotateLogs(handle, "request", id)
        return HttpServerResponse.setHeaders(response, {
          "x-request-id": id,
          "x-content-type-options": "nosniff",
          "referrer-policy": "no-referrer",
          "cache-control": response.headers["cache-control"] ?? "no-store"
        })
      })
  }),
  { global: true }
)
