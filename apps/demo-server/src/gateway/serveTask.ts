/** What the later calls of tasks have in common: the task is the caller's own, and its provider answers. */
import { Failure, type GatewayError, NotFound, Principal } from "@sluice/core"
import { Effect } from "effect"
import { type MediaTask, MediaTasks } from "../media/MediaTasks.ts"
import type { Provider, TaskOperation, TaskOperations } from "../providers/Provider.ts"
import { originOf } from "./origin.ts"

const toFailure = (error: GatewayError) => Failure.fromReason(error.reason)

const providerGone = Failure.fromReason(
  new NotFound({ message: "Who made this task is not configured any more", code: "provider_gone" })
)

/** Serves a later call by the provider that made the task. */
export const serveTask = Effect.fnUntraced(function* <Response>(
  providers: ReadonlyArray<Provider>,
  kind: MediaTask["kind"],
  pick: (tasks: TaskOperations) => TaskOperation<Response> | undefined
) {
  const tasks = yield* MediaTasks
  return Effect.fn(`gateway.${kind}`)(function* (id: string) {
    const { user } = yield* Principal
    const task = yield* Effect.mapError(tasks.find(kind, id, user), toFailure)
    const operations = providers.find((provider) => provider.id === task.provider)?.tasks
    const operate = operations && pick(operations)
    if (operate === undefined) return yield* providerGone
    return yield* Effect.mapError(operate({ task, origin: yield* originOf }), toFailure)
  })
})
