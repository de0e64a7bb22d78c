/** Streams of events at the end of the server: each ends with an event that says why, not with a broken socket. */
import { Effect, Stream } from "effect"
import { HttpBody, HttpServerResponse } from "effect/http"
import type { Shutdown } from "../operation/Shutdown.ts"
import { shuttingDown } from "./HttpErrors.ts"
import { finalEvent } from "../wire/FinalEvent.ts"

/** Read as an error by clients of `/v1` and of the documents. */
const farewell = finalEvent({ type: "error", error: shuttingDown.body.error })

const isEvents = ({ body }: HttpServerResponse.HttpServerResponse): boolean =>
  body._tag === "Stream" && body.contentType.startsWith("text/event-stream")

/** nginx collects an answer before it passes it on, unless the answer says so. */
const UNBUFFERED = { "x-accel-buffering": "no" }

/** The same answer; where it is a stream of events, it passes proxies as it comes, and ends when the server's time is over. */
export const endInTime = (
  response: HttpServerResponse.HttpServerResponse,
  { isOver, over }: Shutdown["Service"]
): HttpServerResponse.HttpServerResponse => {
  const { body } = response
  if (body._tag !== "Stream" || !isEvents(response)) return response
  const ending = body.stream.pipe(
    Stream.interruptWhen(over),
    Stream.concat(Stream.unwrap(Effect.sync(() => (isOver() ? Stream.make(farewell) : Stream.empty))))
  )
  return HttpServerResponse.setHeaders(
    HttpServerResponse.setBody(response, HttpBody.stream(ending, body.contentType)),
    UNBUFFERED
  )
}
