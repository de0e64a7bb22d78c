/** Later calls for tasks: a task belongs to its caller, and its provider answers. */
import { Failure, Principal } from "@sluice/core/contract"
import { type GatewayError, NotFound } from "@sluice/core"
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { type MediaTask, MediaTasks } from "../media/MediaTasks.ts"
import { Charges } from "../billing/Charges.ts"
import type { Provider, TaskOperation, TaskOperations } from "../routing/Provider.ts"
import { callerOrigin } from "./ModelCall.ts"

const toFailure = (error: GatewayError) => Failure.fromReason(error.reason)

const providerGone = Failure.fromReason(
  new NotFound({ message: "Who made this task is not configured any more", code: "provider_gone" })
)

/** Whether a response shows that the task has succeeded or failed; undefined if neither. */
export type Shows = (answer: unknown) => boolean | undefined

/** A file that exists, or has expired, was created. */
export const completedByFile: Shows = (answer) =>
  HttpServerResponse.isHttpServerResponse(answer) && [200, 410].includes(answer.status) ? true : undefined

/** A task that is deleted before it completes never completes. */
export const failedByDeletion: Shows = () => false

/** Passes a later call to the task's provider. The charge is settled or refunded as the response shows. */
export const serveTask = Effect.fnUntraced(function* <Response>(
  providers: ReadonlyArray<Provider>,
  kind: MediaTask["kind"],
  pick: (tasks: TaskOperations) => TaskOperation<Response> | undefined,
  shows: Shows
) {
  const tasks = yield* MediaTasks
  const charges = yield* Charges
  return Effect.fn(`gateway.${kind}`)(function* (id: string) {
    const { user } = yield* Principal
    const task = yield* Effect.mapError(tasks.find(kind, id, user), toFailure)
    const provider = providers.find(({ id }) => id === task.provider)
    const operate = provider?.tasks && pick(provider.tasks)
    if (operate === undefined) return yield* providerGone
    const origin = callerOrigin(yield* HttpServerRequest.HttpServerRequest)
    const call = operate({ task, origin })
    const answer = yield* Effect.mapError(provider?.guard?.around(call) ?? call, toFailure)
    const made = shows(answer)
    // A file does not tell its cost.
    const look: TaskOperation<unknown> | undefined =
      shows === completedByFile ? provider?.tasks?.[kind] : undefined
    const told = look && Effect.orElseSucceed(look({ task, origin }), () => undefined)
    if (made !== undefined) yield* charges.endTask(user, id, made, told ?? Effect.succeed(answer))
    return answer
  })
})
