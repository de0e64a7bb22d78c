/** Errors outside of the contract's handlers, in the interface's form. */
import { Failure } from "@sluice/core/contract"
import { Cause, Duration, Effect } from "effect"
import { HttpServerError, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { methodsOf } from "./Routes.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** A failure as a response. `status` replaces one that the contract does not have. */
export const respond = (
  failure: Failure,
  status: number = failure.status,
  headers: Record<string, string> = {}
): Response =>
  HttpServerResponse.jsonUnsafe(failure.body, { status, headers: { ...failure.headers, ...headers } })

const final = (status: Failure["status"], code: string, message: string) =>
  new Failure({ status, message, code })

export const bodyTooLarge = (limit: number): Response => {
  const message = `The body is larger than the limit of ${limit} bytes. Send less at once`
  return respond(final(413, "too_large", message), 413, { connection: "close" })
}

const OTHER_HOST = "This host name is not allowed. Use localhost, 127.0.0.1 or a name in SLUICE_HOSTS"
export const hostNotAllowed = respond(final(403, "host_not_allowed", OTHER_HOST))

export const notOneHost = respond(
  final(400, "malformed_request", "The request needs exactly one Host header")
)

/** Compressed bodies are refused: a small one may decompress to a huge one. */
export const unsupportedEncoding = respond(
  final(
    415,
    "unsupported_content_encoding",
    "Compressed request bodies are not supported. Send it uncompressed"
  ),
  415,
  { "accept-encoding": "identity" }
)

/** The call was interrupted by this server's shutdown. Another server may answer it. */
export const shuttingDown = new Failure({
  status: 503,
  message: "The server is stopping, and the call was not completed. Try again in a moment",
  code: "shutting_down",
  retryAfter: Duration.seconds(1),
  retryable: true
})

/** The response to a defect of this server. */
export const internalFailure = final(
  500,
  "internal",
  "Internal server error. Report it with the x-request-id and the server's log"
)

/** Bodies for statuses that the framework sends without one. */
const emptyFailures: Partial<Record<number, Failure>> = {
  400: final(400, "malformed_request", "The request could not be parsed. See /docs for its format"),
  413: final(413, "too_large", "The body is too large. Send less at once"),
  415: final(415, "unsupported_media_type", "This content-type is not supported. See /docs for the right one")
}

/** Characters of a path that are repeated in a message at most. */
const SHOWN = 100

const notFound = ({ method, url }: Request): Response => {
  const path = (url.split("?", 1)[0] ?? "").slice(0, SHOWN)
  const methods = methodsOf(url)
  if (methods.length === 0 || methods.includes(method)) {
    const versioned = `/v1${path}`
    const advice = methodsOf(versioned).includes(method)
      ? `Did you mean ${versioned}?`
      : "/docs lists all routes"
    return respond(final(404, "route_not_found", `No route ${path}. ${advice}`))
  }
  const allow = methods.join(", ")
  return respond(final(400, "method_not_allowed", `${path} does not support ${method}. Use ${allow}`), 405, {
    allow
  })
}

const isNotFound = (error: unknown): boolean =>
  HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound"

/** Whether the caller disconnected. Other interruptions come from the server's shutdown. */
export const isAbandoned = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some(
    (reason) => reason._tag === "Interrupt" && reason.annotations.has(HttpServerError.ClientAbort.key)
  )

const typeOf = ({ body, headers }: Response): string =>
  headers["content-type"] ?? ("contentType" in body ? String(body.contentType) : "")

/** Gives errors of the framework the interface's form. */
export const toInterfaceError = (response: Response, limit: number): Response => {
  if (response.status < 400 || typeOf(response).startsWith("application/json")) return response
  if (response.status === 413) return bodyTooLarge(limit)
  const failure = emptyFailures[response.status] ?? (response.status >= 500 ? internalFailure : undefined)
  return failure === undefined ? response : respond(failure)
}

/** The response to a failed handler. Defects are logged and not shown. */
export const answerCause = <E>(cause: Cause.Cause<E>, request: Request): Effect.Effect<Response, E> => {
  if (Cause.hasInterruptsOnly(cause)) {
    return isAbandoned(cause) ? Effect.failCause(cause) : Effect.succeed(respond(shuttingDown))
  }
  if (isNotFound(Cause.squash(cause))) return Effect.succeed(notFound(request))
  return Effect.flatMap(HttpServerError.causeResponse(cause), ([response]) =>
    response.status < 500
      ? Effect.succeed(response)
      : Effect.as(Effect.logError("A request failed", cause), respond(internalFailure))
  )
}
