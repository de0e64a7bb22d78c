/** What the later calls of tasks have in common: the task is the caller's own, and its provider answers. */
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

/** What an answer shows of the task: it has made something, it will not, or neither yet. */
export type Shows = (answer: unknown) => boolean | undefined

/** What can be fetched, or could be until it expired, was made. */
export const byContent: Shows = (answer) =>
  HttpServerResponse.isHttpServerResponse(answer) && [200, 410].includes(answer.status) ? true : undefined

/** What is removed before it was made never is. */
export const byRemoval: Shows = () => false

/** Serves a later call by the provider that made the task; the task is paid for, or refunded, as the answer shows. */
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
    // What is fetched does not tell what it costs.
    const look: TaskOperation<unknown> | undefined = shows === byContent ? provider?.tasks?.[kind] : undefined
    const told = look && Effect.orElseSucceed(look({ task, origin }), () => undefined)
    if (made !== undefined) yield* charges.endTask(user, id, made, told ?? Effect.succeed(answer))
    return answer
  })
})
