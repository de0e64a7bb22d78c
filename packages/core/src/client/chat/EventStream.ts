/** Streams of events under another content type. */
import { Effect, Stream } from "effect"
import { HttpClientError, HttpClientResponse } from "effect/http"

type Response = HttpClientResponse.HttpClientResponse

/** Whether the response says that it is a stream of events. */
export const isEventStream = ({ headers }: Response): boolean =>
  (headers["content-type"] ?? "").trimStart().toLowerCase().startsWith("text/event-stream")

/** The first line of a stream of events, which begins with a field or a comment. */
const EVENTS = /^(?:data|event|id|retry)?:/

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
    : Effect.tryPromise({
        try: async (signal) => {
          const reader = Stream.toReadableStream(response.stream).getReader()
          const cancel = (reason?: unknown) => reader.cancel(reason)
          signal.addEventListener("abort", () => void cancel())
          const chunks: Array<Uint8Array> = []
          let isEnded = false
          let head = ""
          while (head === "" && !isEnded) {
            const { done, value } = await reader.read()
            isEnded = done
            if (value !== undefined) chunks.push(value)
            head = Buffer.concat(chunks).toString().trimStart()
          }
          const body = new ReadableStream<Uint8Array>({
            start: (controller) => {
              for (const chunk of chunks) controller.enqueue(chunk)
              if (isEnded) controller.close()
            },
            pull: async (controller) => {
              const { done, value } = await reader.read()
              if (done) controller.close()
              else controller.enqueue(value)
            },
            cancel
          })
          const headers = EVENTS.test(head) ? { "content-type": "text/event-stream" } : {}
          const { request, status } = response
          const web = new globalThis.Response(body, { status, headers: { ...response.headers, ...headers } })
          return HttpClientResponse.fromWeb(request, web)
        },
        catch: (cause) =>
          new HttpClientError.HttpClientError({
            reason: new HttpClientError.DecodeError({ request: response.request, response, cause })
          })
      })
