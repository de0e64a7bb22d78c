/** Requests to the server that serves this page. */
import { signal } from "@preact/signals"
import { Failure, failureOf, offlineFailure } from "./RequestError.ts"
import { eventParser } from "./eventParser.ts"

/** False from the moment that a request finds no server until one is answered again. */
export const online = signal(true)

/** Called with the path when the server answers 401. */
export const unauthorized = { notify: (_path: string): void => {} }

interface Options {
  readonly body?: unknown
  readonly accept?: string
  readonly signal?: AbortSignal
}

const send = async (method: string, path: string, options: Options): Promise<Response> => {
  const headers = new Headers({ accept: options.accept ?? "application/json" })
  if (options.body !== undefined) headers.set("content-type", "application/json")
  const response = await fetch(path, {
    method,
    headers,
    credentials: "same-origin",
    body: options.body === undefined ? null : JSON.stringify(options.body),
    signal: options.signal ?? null
  }).catch((thrown: unknown) => {
    if (options.signal?.aborted) throw thrown
    online.value = false
    throw offlineFailure()
  })
  online.value = true
  if (response.ok) return response
  if (response.status === 401) unauthorized.notify(path)
  throw failureOf(response.status, await response.text())
}

/** One answer, decoded from JSON. */
export const request = async <A>(method: string, path: string, options: Options = {}): Promise<A> => {
  const response = await send(method, path, options)
  const text = await response.text()
  try {
    return (text === "" ? undefined : JSON.parse(text)) as A
  } catch {
    const message =
      "What was answered is no JSON: something between this page and the server may have answered. Try again."
    throw new Failure(message, response.status, "unreadable")
  }
}

/** A file as it is. */
export const requestBlob = async (path: string, signal?: AbortSignal): Promise<Blob> =>
  (await send("GET", path, signal === undefined ? {} : { signal })).blob()

interface StreamError {
  readonly type: "error"
  readonly error: { readonly message: string; readonly code: string | null }
}

/**
 * Server-sent events, each as it arrives. What `onEvent` throws ends them. Gives whether the last was `[DONE]`, as it is of
 * a chat completion that is whole.
 */
export const readEvents = async <E>(
  path: string,
  options: Options,
  onEvent: (event: E) => void
): Promise<boolean> => {
  const response = await send("POST", path, { ...options, accept: "text/event-stream" })
  if (response.body === null) throw new Failure("The server sent an empty stream.", 0, "empty_stream")
  const parse = eventParser<E>(onEvent)
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  try {
    let done = false
    for (let part = await reader.read(); !part.done; part = await reader.read()) done = parse(part.value)
    return done
  } catch (thrown) {
    await reader.cancel().catch(() => {})
    if (thrown instanceof Failure || options.signal?.aborted) throw thrown
    throw new Failure("The connection broke before the answer was whole. Ask again.", 0, "broken_stream")
  }
}

/** As `readEvents`; an `error` event becomes the failure of the whole. */
export const requestEvents = <E extends { readonly type: string }>(
  path: string,
  options: Options,
  onEvent: (event: Exclude<E, StreamError>) => void
): Promise<boolean> =>
  readEvents<Exclude<E, StreamError> | StreamError>(path, options, (event) => {
    if (event.type === "error") {
      const { error } = event as StreamError
      throw new Failure(error.message, 0, error.code ?? "unknown")
    }
    onEvent(event as Exclude<E, StreamError>)
  })

/** What the server's own calls under `/api` answer with. */
export const data = async <A>(answer: Promise<{ readonly data: A }>): Promise<A> => (await answer).data
