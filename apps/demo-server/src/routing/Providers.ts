/** The providers of this server, and the choice of those that serve a model. */
import { GatewayError, InvalidRequest, NotFound, ServerFailure } from "@sluice/core"
import { Context, Duration, Effect } from "effect"
import { type ProviderCandidate, failover } from "./Failover.ts"
import type { Operation, Operations, Provider } from "./Provider.ts"

/**
 * The providers.
 *
 * **Gotchas.** The list is updated in place when the providers' file changes: keep the list, not its elements.
 */
export class Providers extends Context.Service<Providers, ReadonlyArray<Provider>>()(
  "@sluice/demo-server/Providers"
) {}

/** How often vendors are asked that have not listed their models. */
export const LIST_AGAIN = Duration.seconds(15)

/** What is missing until vendors list their models; empty if all have. The message must not have their addresses. */
export const unlistedModels = (providers: ReadonlyArray<Pick<Provider, "id" | "isUnlisted">>): string => {
  const ids = providers.flatMap(({ id, isUnlisted }) => (isUnlisted === true ? [`\`${id}\``] : []))
  return ids.length === 0
    ? ""
    : `The models of ${ids.join(" and ")} are not known yet, because the vendor does not answer. The server asks again every ${Duration.format(LIST_AGAIN)}`
}

/** The operation of the providers that serve a model. If there are none, the error lists the models that are served. */
export const route = <Request extends { readonly model: string }, Response>(
  providers: ReadonlyArray<Provider>,
  operation: keyof Operations,
  pick: (operations: Operations) => Operation<Request, Response> | undefined,
  model: string,
  /** Models that answer beside those of the providers. */
  others: ReadonlyArray<string> = []
): Effect.Effect<Operation<Request, Response>, GatewayError> => {
  const [first, ...more] = providers.flatMap(
    (provider): ReadonlyArray<ProviderCandidate<Request, Response>> => {
      const operate = pick(provider.operations)
      const known = provider.models.find((known) => known.id === model && known.operation === operation)
      return operate !== undefined &&
        (known !== undefined || provider.anyModelOf?.includes(operation) === true)
        ? [{ provider, operate, priority: known?.priority ?? 1, weight: known?.weight ?? 1 }]
        : []
    }
  )
  if (first !== undefined) return failover(operation, model, [first, ...more])
  const models = providers.flatMap(({ models }) => models)
  const served = models
    .filter((known) => known.operation === operation)
    .map(({ id }) => id)
    .concat(others)
  const advice =
    served.length === 0 ? `No model serves ${operation}` : `Use ${[...new Set(served)].join(" or ")}`
  const other = models.find((known) => known.id === model)
  const fail = (reason: GatewayError["reason"]) => Effect.fail(new GatewayError({ operation, model, reason }))
  if (other !== undefined) {
    const message = `The model \`${model}\` is for ${other.operation}, not ${operation}. ${advice}`
    return fail(new InvalidRequest({ message, param: "model" }))
  }
  const unlisted = unlistedModels(providers)
  return unlisted === ""
    ? fail(new NotFound({ message: `There is no model \`${model}\`. ${advice}`, code: "model_not_found" }))
    : fail(new ServerFailure({ message: unlisted, status: 503, retryAfter: LIST_AGAIN }))
}
