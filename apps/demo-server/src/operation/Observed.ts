/** Every request is counted once and, by configuration, told in one line of the log, when its answer has ended. */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Clock, Effect, Stream } from "effect"
import { HttpBody, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { routeOf } from "../http/Routes.ts"
import { type Answered, countRequest } from "./RequestMetrics.ts"
import { CurrentRequest, type RequestRecord } from "../http/RequestRecord.ts"

type Response = HttpServerResponse.HttpServerResponse

/** Methods of RFC 9110; what else callers call them is one name more, not many. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

/** Of a caller that did not wait for its answer. */
export const GONE = 499

/** Runs `after` when the last of the answer is on its way. */
const whenEnded = (response: Response, after: Effect.Effect<void>): Effect.Effect<Response> => {
  const { body } = response
  if (body._tag !== "Stream") return Effect.as(after, response)
  const told = HttpBody.stream(Stream.ensuring(body.stream, after), body.contentType, body.contentLength)
  return Effect.succeed(HttpServerResponse.setBody(response, told))
}

/** A line of the log about a request. */
export const tellRequest = (id: string, answered: Answered): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logInfo("request"), { request: id, ...answered })

/** Handles a request with a record of its own, and tells of it. */
export const observed = <E, R>(
  request: HttpServerRequest.HttpServerRequest,
  id: string,
  tellsLines: boolean,
  handle: Effect.Effect<Response, E, R>
): Effect.Effect<Response, E, R> =>
  Effect.gen(function* () {
    const started = yield* Clock.currentTimeMillis
    const record: { now: RequestRecord } = { now: {} }
    const tell = Effect.fnUntraced(function* (status: number) {
      const answered = {
        ...record.now,
        method: METHODS.has(request.method) ? request.method : "other",
        route: routeOf(request.url),
        status,
        ms: (yield* Clock.currentTimeMillis) - started
      }
      yield* countRequest(answered)
      if (tellsLines) yield* tellRequest(id, answered)
    })
    const response = yield* Effect.provideService(handle, CurrentRequest, record).pipe(
      Effect.tapCause(() => tell(GONE))
    )
    // What is not broken off is answered to nobody.
    const isGone = NodeHttpServerRequest.toServerResponse(request).destroyed
    return yield* whenEnded(response, tell(isGone ? GONE : response.status))
  })
