/** A failed request, with a message for people. `status` is 0 when there was no response or a stream broke off. */
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

/** There was no response. */
export const offlineError = (): RequestError => new RequestError(OFFLINE, 0, "offline")

/** The stream ended before the answer was complete. */
export const brokenStream = (): RequestError =>
  new RequestError("The connection broke before the answer was complete. Ask again.", 0, "broken_stream")

/** Any thrown value as an error that can be shown. `fetch` throws a TypeError when there is no response. */
export const toRequestError = (thrown: unknown): RequestError => {
  if (thrown instanceof RequestError) return thrown
  if (thrown instanceof TypeError) return offlineError()
  return new RequestError(thrown instanceof Error ? thrown.message : String(thrown), 0, "unknown")
}

/** The error of a body or an event. */
export const errorOf = (
  error: { readonly message: string; readonly code: string | null },
  status = 0
): RequestError => new RequestError(error.message, status, error.code ?? "unknown")

/** Parses the server's error body. */
export const parseErrorResponse = (status: number, body: string): RequestError => {
  try {
    return errorOf(JSON.parse(body).error, status)
  } catch {
    const message = `The server responded with status ${status} and gave no reason. Its log may say more.`
    return new RequestError(message, status, "unknown")
  }
}
