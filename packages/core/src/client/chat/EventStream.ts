/** Streams of events under another content type. */
import { Effect, Exit, Scope, Sink, Stream } from "effect"
import { type HttpClientError, HttpClientResponse } from "effect/http"

type Response = HttpClientResponse.HttpClientResponse

/** Whether the response says that it is a stream of events. */
export const isEventStream = ({ headers }: Response): boolean =>
  (headers["content-type"] ?? "").trimStart().toLowerCase().startsWith("text/event-stream")

/** The first line of a stream of events, which begins with a field or a comment. */
const EVENTS = /^(?:data|event|id|retry)?:/

const LONGEST_FIELD = "retry:".length

/** Whether the chunks so far say what the stream is. The first one may end within the name of its first field. */
const makeIsDecided = () => {
  let text = ""
  return (chunk: Uint8Array): boolean => {
    text = (text + Buffer.from(chunk).toString("latin1")).trimStart()
    return text.length >= LONGEST_FIELD || EVENTS.test(text)
  }
}

/**
 * The response, with the type of a stream of events if its first bytes are one.
 *
 * Some gateways send events as `text/plain`, as JSON or without a type, and answer a streaming request with JSON.
 */
export const withActualType = (
  response: Response
): Effect.Effect<Response, HttpClientError.HttpClientError> =>
  response.status < 200 || response.status >= 300 || isEventStream(response)
    ? Effect.succeed(response)
    : Effect.gen(function* () {
        const scope = yield* Scope.make()
        const [first, rest] = yield* Stream.peel(response.stream, Sink.takeUntil(makeIsDecided())).pipe(
          Scope.provide(scope),
          Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : Scope.close(scope, exit)))
        )
        const body = Stream.concat(Stream.fromIterable(first), rest).pipe(
          Stream.ensuring(Scope.close(scope, Exit.void)),
          Stream.toReadableStream()
        )
        const isEvents = EVENTS.test(Buffer.concat(first).toString().trimStart())
        const headers = { ...response.headers, ...(isEvents && { "content-type": "text/event-stream" }) }
        const web = new globalThis.Response(body, { status: response.status, headers })
        return HttpClientResponse.fromWeb(response.request, web)
      })
