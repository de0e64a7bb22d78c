/** Requests to the server that serves this page, and their errors. */
import { signal } from "@preact/signals"
import { createParser } from "eventsource-parser"
import type { StreamFailed } from "../../contract/Answer.ts"
import { DEFAULT_COLLECTION } from "../../contract/Names.ts"

/** A failed request, with a message for people. `status` is 0 without a response and for a broken stream. */
export class RequestError extends Error {
  readonly status: number
  readonly code: string

  constructor(message: string, status: number, code: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

const OFFLINE =
  "The server does not respond. If it was stopped, start it with “npm start”; this page reconnects by itself."

export const offlineError = (): RequestError => new RequestError(OFFLINE, 0, "offline")

export const brokenStream = (): RequestError =>
  new RequestError("The connection broke before the answer was complete. Ask again.", 0, "broken_stream")

/** Any thrown value as an error that can be shown. `fetch` throws a TypeError when there is no response. */
export const toRequestError = (thrown: unknown): RequestError => {
  if (thrown instanceof RequestError) return thrown
  if (thrown instanceof TypeError) return offlineError()
  return new RequestError(thrown instanceof Error ? thrown.message : String(thrown), 0, "unknown")
}

export const errorOf = (
  error: { readonly message: string; readonly code: string | null },
  status = 0
): RequestError => new RequestError(error.message, status, error.code ?? "unknown")

export const parseErrorResponse = (status: number, body: string): RequestError => {
  try {
    return errorOf(JSON.parse(body).error, status)
  } catch {
    const message = `The server responded with status ${status} and gave no reason. Its log may say more.`
    return new RequestError(message, status, "unknown")
  }
}

/** False from the first request without a response until the next response. */
export const online = signal(true)

/** Called with the path when the server responds with status 401. */
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
    throw offlineError()
  })
  online.value = true
  if (response.ok) return response
  if (response.status === 401) unauthorized.notify(path)
  throw parseErrorResponse(response.status, await response.text())
}

export const withCollection = (collection: string, path: string): string =>
  collection === DEFAULT_COLLECTION
    ? path
    : `${path}${path.includes("?") ? "&" : "?"}collection=${encodeURIComponent(collection)}`

/** Sends a request and parses the JSON of its response. */
export const request = async <A>(method: string, path: string, options: Options = {}): Promise<A> => {
  const response = await send(method, path, options)
  const text = await response.text()
  try {
    return (text === "" ? undefined : JSON.parse(text)) as A
  } catch {
    const message =
      "The response is not JSON. A proxy between this page and the server may have sent it. Try again."
    throw new RequestError(message, response.status, "unreadable")
  }
}

/** The `data` of a response of `/api`. */
export const requestData = async <A>(method: string, path: string, body?: unknown): Promise<A> =>
  (await request<{ readonly data: A }>(method, path, { body })).data

export const requestBlob = async (path: string, signal?: AbortSignal): Promise<Blob> =>
  (await send("GET", path, signal === undefined ? {} : { signal })).blob()

/**
 * Parses server-sent events from pieces of any size. The function calls `onEvent` with the JSON of each complete event,
 * and returns true once `[DONE]` has arrived, which ends a chat completion.
 */
export const makeEventParser = <E>(onEvent: (event: E) => void): ((piece: string) => boolean) => {
  let done = false
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data === "[DONE]") done = true
      else if (data !== "") onEvent(JSON.parse(data) as E)
    }
  })
  return (piece) => {
    parser.feed(piece)
    return done
  }
}

/** Sends a request and calls `onEvent` with each event of the response. Returns true if the last one is `[DONE]`. */
export const streamEvents = async <E>(
  path: string,
  options: Options,
  onEvent: (event: E) => void
): Promise<boolean> => {
  const response = await send("POST", path, { ...options, accept: "text/event-stream" })
  if (response.body === null) throw brokenStream()
  const feed = makeEventParser<E>(onEvent)
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  try {
    let done = false
    for (let part = await reader.read(); !part.done; part = await reader.read()) done = feed(part.value)
    return done
  } catch (thrown) {
    await reader.cancel().catch(() => {})
    if (thrown instanceof RequestError || options.signal?.aborted) throw thrown
    throw brokenStream()
  }
}

type ErrorEvent = typeof StreamFailed.Type

export const isErrorEvent = (event: { readonly type: string }): event is ErrorEvent => event.type === "error"

/** As `streamEvents`, for the server's own streams: an `error` event is thrown. */
export const requestEvents = <E extends { readonly type: string }>(
  path: string,
  options: Options,
  onEvent: (event: Exclude<E, ErrorEvent>) => void
): Promise<boolean> =>
  streamEvents<Exclude<E, ErrorEvent> | ErrorEvent>(path, options, (event) => {
    if (isErrorEvent(event)) throw errorOf(event.error)
    onEvent(event)
  })
