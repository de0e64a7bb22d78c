/** All providers of this server, and which of them serves a model. */
import { GatewayError, InvalidRequest, NotFound } from "@sluice/core"
import { Context, Effect } from "effect"
import { type ProviderCandidate, failover } from "./Failover.ts"
import type { Operation, Operations, Provider } from "./Provider.ts"

/**
 * The providers.
 *
 * **Gotchas.** The content of the list changes when the providers' file does: keep the list, not its elements.
 */
export class Providers extends Context.Service<Providers, ReadonlyArray<Provider>>()(
  "@sluice/demo-server/Providers"
) {}

/** Who may serve a model. */
export const providersOf = <Request extends { readonly model: string }, Response>(
  providers: ReadonlyArray<Provider>,
  operation: keyof Operations,
  pick: (operations: Operations) => Operation<Request, Response> | undefined,
  model: string
): ReadonlyArray<ProviderCandidate<Request, Response>> =>
  providers.flatMap((provider): ReadonlyArray<ProviderCandidate<Request, Response>> => {
    const operate = pick(provider.operations)
    const known = provider.models.find((known) => known.id === model && known.operation === operation)
    return operate !== undefined && (known !== undefined || provider.anyModelOf?.includes(operation) === true)
      ? [{ provider, operate, priority: known?.priority ?? 1, weight: known?.weight ?? 1 }]
      : []
  })

/** The operation that serves a model; the error says which models do, when the caller's does not. */
export const route = <Request extends { readonly model: string }, Response>(
  providers: ReadonlyArray<Provider>,
  operation: keyof Operations,
  pick: (operations: Operations) => Operation<Request, Response> | undefined,
  model: string
): Effect.Effect<Operation<Request, Response>, GatewayError> => {
  const [first, ...more] = providersOf(providers, operation, pick, model)
  if (first !== undefined) return failover(operation, [first, ...more])
  const others = providers.flatMap(({ models }) => models)
  const fitting = others.filter((known) => known.operation === operation).map(({ id }) => id)
  const instead = fitting.length === 0 ? "none is served here" : `use ${[...new Set(fitting)].join(" or ")}`
  const elsewhere = others.find((known) => known.id === model)
  return Effect.fail(
    new GatewayError({
      operation,
      model,
      reason:
        elsewhere === undefined
          ? new NotFound({ message: `There is no model \`${model}\`: ${instead}`, code: "model_not_found" })
          : new InvalidRequest({
              message: `The model \`${model}\` does ${elsewhere.operation}, not ${operation}: ${instead}`,
              param: "model"
            })
    })
  )
}
