/** What becomes known of a request while it is handled, for its line in the log and for the metrics. */
import { Context, Effect } from "effect"

/** Identifiers and counts alone: no credential, no text of the caller's. */
export interface RequestRecord {
  readonly user?: string
  /** The API key's identifier. */
  readonly key?: string
  /** As a provider of this server has it. */
  readonly model?: string
  readonly inputTokens?: number
  readonly outputTokens?: number
}

/** The record of the request that is being handled; elsewhere one that nobody reads. */
export const CurrentRequest = Context.Reference<{ now: RequestRecord }>(
  "@sluice/demo-server/CurrentRequest",
  { defaultValue: () => ({ now: {} }) }
)

/** Adds to it. */
export const noteRequest = (known: RequestRecord): Effect.Effect<void> =>
  Effect.map(CurrentRequest, (record) => {
    record.now = { ...record.now, ...known }
  })
