/** Polls a task until it is finished. */
import { Clock, Duration, Effect } from "effect"
import type { HttpClient } from "effect/http"
import { type GatewayResponse, refusalIn, type NoResponse } from "./Request.ts"
import { at } from "./Rule.ts"
import type { Session } from "./Session.ts"

const TASK_TIMEOUT = Duration.minutes(15)

export const statusOf = ({ json }: GatewayResponse): unknown => at(json, "status")

/** True for `completed` and `failed`; an unknown status counts as unfinished. */
export const isTaskFinished = (status: unknown): status is "completed" | "failed" =>
  status === "completed" || status === "failed"

/**
 * The responses of a task, from `first` to the finished one.
 *
 * Also stops after a refusal, a missing response, or `taskTimeout`.
 */
export const poll = Effect.fnUntraced(function* (
  first: GatewayResponse,
  get: Effect.Effect<GatewayResponse, NoResponse, HttpClient.HttpClient>,
  { pollInterval, taskTimeout }: Session["options"],
  every: Duration.Input
) {
  const responses = [first]
  const start = yield* Clock.currentTimeMillis
  const longest = Duration.toMillis(Duration.fromInputUnsafe(taskTimeout ?? TASK_TIMEOUT))
  for (let last = first; !isTaskFinished(statusOf(last));) {
    if ((yield* Clock.currentTimeMillis) - start >= longest) break
    yield* Effect.sleep(pollInterval ?? every)
    const next = yield* Effect.result(get)
    if (next._tag === "Failure" || refusalIn(next.success) !== undefined) break
    last = next.success
    responses.push(last)
  }
  return responses
})
