/** Chooses the order of providers, and which failures go on to the next. */
import { Duration, Effect, Random } from "effect"
import type { GatewayError } from "@sluice/core"
import { UNKNOWN_OUTCOME_REASONS } from "@sluice/core/contract"
import type { Operation, Operations, Provider } from "./Provider.ts"

/** A provider that serves the model. */
export interface ProviderCandidate<Request, Response> {
  readonly provider: Provider
  readonly operate: Operation<Request, Response>
  readonly priority: number
  readonly weight: number
}

/** Sorts by priority, and providers of the same priority at random by their weights. */
const inOrder = <C extends { readonly priority: number; readonly weight: number }>(
  candidates: ReadonlyArray<C>
): Effect.Effect<ReadonlyArray<C>> =>
  Effect.map(
    Effect.forEach(candidates, (candidate) =>
      // With exponential waits whose rates are the weights, each provider is first in proportion to its weight.
      Effect.map(Random.next, (draw) => ({ candidate, wait: -Math.log(1 - draw) / candidate.weight }))
    ),
    (drawn) =>
      drawn
        .toSorted((a, b) => a.candidate.priority - b.candidate.priority || a.wait - b.wait)
        .map(({ candidate }) => candidate)
  )

/** Operations that cost money each time they run: they go on to the next provider only if nothing was executed. */
const CREATIONS: ReadonlySet<keyof Operations> = new Set(["images", "videos"])

const mayTryNext = (operation: keyof Operations, { reason, notExecuted }: GatewayError): boolean =>
  notExecuted === true ||
  reason._tag === "NotFound" ||
  (!CREATIONS.has(operation) && UNKNOWN_OUTCOME_REASONS.has(reason._tag))

const waitOf = ({ retryAfter }: GatewayError): number =>
  retryAfter === undefined ? Infinity : Duration.toMillis(retryAfter)

const soonest = (errors: ReadonlyArray<GatewayError>): GatewayError | undefined =>
  errors.toSorted((a, b) => waitOf(a) - waitOf(b))[0]

/** The error that helps the caller most: one that says when to retry, else one that a provider returned. */
const verdict = (errors: ReadonlyArray<GatewayError>, last: GatewayError): GatewayError =>
  soonest(errors.filter(({ reason }) => reason._tag === "RateLimited")) ??
  errors.findLast(({ attempt }) => attempt !== undefined) ??
  soonest(errors) ??
  last

const guarded = <Request, Response>({ operate, provider: { guard } }: ProviderCandidate<Request, Response>) =>
  guard === undefined ? operate : (call: Parameters<typeof operate>[0]) => guard.around(operate(call))

/** Combines one operation of several providers. */
export const failover = <Request extends { readonly model: string }, Response>(
  operation: keyof Operations,
  candidates: readonly [ProviderCandidate<Request, Response>, ...Array<ProviderCandidate<Request, Response>>]
): Effect.Effect<Operation<Request, Response>> => {
  if (candidates.length === 1) return Effect.succeed(guarded(candidates[0]))
  return Effect.map(inOrder(candidates), (order): Operation<Request, Response> => {
    const ask =
      (at: number, before: ReadonlyArray<GatewayError>): Operation<Request, Response> =>
      (call) => {
        const candidate = order[at] ?? candidates[0]
        return guarded(candidate)(call).pipe(
          Effect.catch((error) => {
            const errors = [...before, error]
            const next = order[at + 1]
            // The outcome is unknown: the caller must hear so, and not repeat the call.
            if (!mayTryNext(operation, error)) return Effect.fail(error)
            if (next === undefined) return Effect.fail(verdict(errors, error))
            const told = `${operation} of ${call.request.model} failed at ${candidate.provider.id} and goes to ${next.provider.id}: ${error.reason.message}`
            return Effect.andThen(
              error.attempt === undefined ? Effect.logDebug(told) : Effect.logWarning(told),
              ask(at + 1, errors)(call)
            )
          })
        )
      }
    return ask(0, [])
  })
}
