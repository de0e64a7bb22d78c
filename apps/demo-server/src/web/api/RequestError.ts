/** A request failed, said in words for people. `status` is 0 when nothing answered or a stream broke off. */
export class Failure extends Error {
  readonly status: number
  readonly code: string

  constructor(message: string, status: number, code: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

const OFFLINE =
  "The server does not answer. If it was stopped, start it again with “npm start”; this page finds it by itself."

/** Nothing answered at all. */
export const offlineFailure = (): Failure => new Failure(OFFLINE, 0, "offline")

/** Anything thrown, as a failure that can be shown. */
export const toFailure = (thrown: unknown): Failure =>
  thrown instanceof Failure
    ? thrown
    : thrown instanceof TypeError
      ? offlineFailure()
      : new Failure(thrown instanceof Error ? thrown.message : String(thrown), 0, "unknown")

/** The server's error body, or as much as can be said without one. */
export const failureOf = (status: number, body: string): Failure => {
  try {
    const { error } = JSON.parse(body) as { error: { message: string; code: string | null } }
    return new Failure(error.message, status, error.code ?? "unknown")
  } catch {
    return new Failure(
      `The server answered ${status} without saying why; its own output may.`,
      status,
      "unknown"
    )
  }
}
