/** What a request is called in its answer and in every line of the log about it. */
import { randomUUID } from "node:crypto"

/** Harmless in a header, a log and a search: no spaces, no markup, not endless. */
const HARMLESS = /^[\w.:-]{1,128}$/

/** The caller's own name for it where that is harmless, else a new one. */
export const requestIdOf = (given: string | ReadonlyArray<string> | undefined): string =>
  typeof given === "string" && HARMLESS.test(given) ? given : `req_${randomUUID()}`
