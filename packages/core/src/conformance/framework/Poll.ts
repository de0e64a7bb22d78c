/** Looking at a task until it has ended. */
import { Clock, Duration, Effect } from "effect"
import type { HttpClient } from "effect/http"
import { type Answer, refusalOf, type Unanswered } from "./Ask.ts"
import { at } from "./Json.ts"
import type { Session } from "./Session.ts"

const PATIENCE = Duration.minutes(15)

export const statusOf = ({ json }: Answer): unknown => at(json, "status")

/** Whether a task goes on no more: of a status that is not known, nobody can say. */
export const hasEnded = (status: unknown): status is "completed" | "failed" =>
  status === "completed" || status === "failed"

/**
 * The answers of a task after `first`, the last one that with which it ended.
 *
 * Ends too when a look is refused or not answered, and when the patience is over.
 */
export const poll = Effect.fnUntraced(function* (
  first: Answer,
  look: Effect.Effect<Answer, Unanswered, HttpClient.HttpClient>,
  { pollEvery, patience }: Session["options"],
  every: Duration.Input
) {
  const seen = [first]
  const start = yield* Clock.currentTimeMillis
  const longest = Duration.toMillis(Duration.fromInputUnsafe(patience ?? PATIENCE))
  for (let last = first; !hasEnded(statusOf(last));) {
    if ((yield* Clock.currentTimeMillis) - start >= longest) break
    yield* Effect.sleep(pollEvery ?? every)
    const next = yield* Effect.result(look)
    if (next._tag === "Failure" || refusalOf(next.success) !== undefined) break
    last = next.success
    seen.push(last)
  }
  return seen
})
