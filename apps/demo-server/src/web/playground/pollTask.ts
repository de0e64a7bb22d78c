/** Following tasks. */
import { toFailure } from "../api/RequestError.ts"

/** How long to wait before each look at a task: often at first, then as seldom as the interface recommends. */
const WAITS_MS = [500, 500, 1_000, 1_000, 1_000, 1_000, 2_000, 2_000, 3_000, 5_000, 8_000, 15_000]

/** Waits before look number `look`, from 0; rejects as soon as the signal says so. */
export const waitFor = (look: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, WAITS_MS[Math.min(look, WAITS_MS.length - 1)])
    signal.addEventListener("abort", () => {
      clearTimeout(timer)
      reject(new DOMException("Given up", "AbortError"))
    })
  })

/** A look that finds no server says nothing of the task: it is as it was before, until the next look. */
export const asBefore =
  <A>(before: A) =>
  (thrown: unknown): A => {
    const { code, status } = toFailure(thrown)
    if (code !== "offline" && status !== 503) throw thrown
    return before
  }

/** What a task says of its failure, in any form. */
export const reasonOf = (error: unknown): string => {
  if (typeof error === "string" && error !== "") return error
  if (typeof error === "object" && error !== null && "message" in error) return String(error.message)
  return "The model failed, and did not say why. Try another prompt or another model."
}
