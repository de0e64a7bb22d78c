/** Calls for existing tasks. A user has access to their own tasks only. */
import { Failure, Principal } from "@sluice/core/contract"
import { type GatewayError, NotFound } from "@sluice/core"
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { type MediaTask, MediaTasks } from "../media/MediaTasks.ts"
import { Charges } from "../billing/Charges.ts"
import type { Provider, TaskOperation, TaskOperations } from "../routing/Provider.ts"
import { requestOrigin } from "../network/Origin.ts"

const toFailure = (error: GatewayError) => Failure.fromReason(error.reason)

const providerRemoved = Failure.fromReason(
  new NotFound({ message: "The provider of this task is no longer configured", code: "provider_gone" })
)

/** Whether a response shows that the task has succeeded or failed; undefined if neither. */
type OutcomeOf = (response: unknown) => boolean | undefined

/** Succeeded, if there is a file or it has expired. */
export const completedByFile: OutcomeOf = (response) =>
  HttpServerResponse.isHttpServerResponse(response) && [200, 410].includes(response.status) ? true : undefined

/** Failed: a task that is deleted before it completes never completes. */
export const failedByDeletion: OutcomeOf = () => false

/** Passes a call to the task's provider, and ends the task's charge if the response shows its outcome. */
export const serveTask = Effect.fnUntraced(function* <Response>(
  providers: ReadonlyArray<Provider>,
  kind: MediaTask["kind"],
  pick: (tasks: TaskOperations) => TaskOperation<Response> | undefined,
  outcomeOf: OutcomeOf
) {
  const tasks = yield* MediaTasks
  const charges = yield* Charges
  return Effect.fn(`gateway.${kind}`)(function* (id: string) {
    const { user } = yield* Principal
    const task = yield* Effect.mapError(tasks.find(kind, id, user), toFailure)
    const provider = providers.find(({ id }) => id === task.provider)
    const operate = provider?.tasks && pick(provider.tasks)
    if (operate === undefined) return yield* providerRemoved
    const origin = requestOrigin(yield* HttpServerRequest.HttpServerRequest)
    const call = operate({ task, origin })
    const response = yield* Effect.mapError(provider?.guard?.around(call) ?? call, toFailure)
    const outcome = outcomeOf(response)
    // The cost is in the task's status, not in its file.
    const getStatus: TaskOperation<unknown> | undefined =
      outcomeOf === completedByFile ? provider?.tasks?.[kind] : undefined
    const status = getStatus && Effect.orElseSucceed(getStatus({ task, origin }), () => undefined)
    if (outcome !== undefined) yield* charges.endTask(user, id, outcome, status ?? Effect.succeed(response))
    return response
  })
})
