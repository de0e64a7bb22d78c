/** What identifies a request, and what becomes known of it for the log and the metrics. */
import { Context } from "effect"
import { randomUUID } from "node:crypto"

/** Safe in a header, a log and a search. */
const SAFE_ID = /^[\w.:-]{1,128}$/

/** The caller's id of the request if it is safe, else a new one. */
export const chooseRequestId = (given: string | ReadonlyArray<string> | undefined): string =>
  typeof given === "string" && SAFE_ID.test(given) ? given : `req_${randomUUID()}`

/** Identifiers and counts only: no credential and no text of the caller. */
export interface RequestRecord {
  readonly user?: string
  /** The API key's identifier. */
  readonly key?: string
  /** As a provider of this server calls it. */
  readonly model?: string
  readonly inputTokens?: number
  readonly outputTokens?: number
}

/** The record of the current request. Outside of requests nobody reads it. */
export const CurrentRequest = Context.Reference<{ now: RequestRecord }>(
  "@sluice/demo-server/CurrentRequest",
  { defaultValue: () => ({ now: {} }) }
)
