/** Orders the providers of a model, and tries the next one after some failures. */
import { Clock, Duration, Effect, Random } from "effect"
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

/** A provider is asked last no longer than this, whatever its 429 says. */
const MAX_COOLDOWN = Duration.minutes(10)

/** Until when providers that answered 429 are asked last, in ms since 1970, by model. */
const cooldowns = new WeakMap<Provider, Map<string, number>>()

/** Asks a provider last until the time that its 429 names. */
const coolDown = (provider: Provider, model: string, { reason, retryAfter }: GatewayError) =>
  reason._tag !== "RateLimited" || retryAfter === undefined
    ? Effect.void
    : Effect.map(Clock.currentTimeMillis, (now) => {
        const byModel = cooldowns.get(provider) ?? new Map<string, number>()
        cooldowns.set(
          provider,
          byModel.set(model, now + Duration.toMillis(Duration.min(retryAfter, MAX_COOLDOWN)))
        )
      })

/** Sorts by cooldown, then by priority; providers of the same priority at random, by their weights. */
const ordered = Effect.fnUntraced(function* <
  C extends { readonly provider: Provider; readonly priority: number; readonly weight: number }
>(candidates: ReadonlyArray<C>, model: string) {
  const now = yield* Clock.currentTimeMillis
  const drawn = yield* Effect.forEach(candidates, (candidate) =>
    // Of exponential variables whose rates are the weights, each is the smallest in proportion to its weight.
    Effect.map(Random.next, (draw) => ({
      candidate,
      cooling: (cooldowns.get(candidate.provider)?.get(model) ?? 0) > now ? 1 : 0,
      wait: -Math.log(1 - draw) / candidate.weight
    }))
  )
  return drawn
    .toSorted(
      (a, b) => a.cooling - b.cooling || a.candidate.priority - b.candidate.priority || a.wait - b.wait
    )
    .map(({ candidate }) => candidate)
})

/** Operations that create something at a cost. The next provider is tried only if nothing was executed. */
const CREATIONS: ReadonlySet<keyof Operations> = new Set(["images", "videos"])

const mayTryNext = (operation: keyof Operations, { reason, notExecuted }: GatewayError): boolean =>
  notExecuted === true ||
  reason._tag === "NotFound" ||
  (!CREATIONS.has(operation) && UNKNOWN_OUTCOME_REASONS.has(reason._tag))

const retryAfterMs = ({ retryAfter }: GatewayError): number =>
  retryAfter === undefined ? Infinity : Duration.toMillis(retryAfter)

const earliestRetry = (errors: ReadonlyArray<GatewayError>): GatewayError | undefined =>
  errors.toSorted((a, b) => retryAfterMs(a) - retryAfterMs(b))[0]

/** The most useful of the errors: one that says when to retry, else one that a provider returned. */
const selectError = (errors: ReadonlyArray<GatewayError>, last: GatewayError): GatewayError =>
  earliestRetry(errors.filter(({ reason }) => reason._tag === "RateLimited")) ??
  errors.findLast(({ attempt }) => attempt !== undefined) ??
  earliestRetry(errors) ??
  last

const withCircuit = <Request, Response>({
  operate,
  provider: { guard }
}: ProviderCandidate<Request, Response>) =>
  guard === undefined ? operate : (call: Parameters<typeof operate>[0]) => guard.around(operate(call))

/** Tries the providers one after another. */
export const failover = <Request extends { readonly model: string }, Response>(
  operation: keyof Operations,
  model: string,
  candidates: readonly [ProviderCandidate<Request, Response>, ...Array<ProviderCandidate<Request, Response>>]
): Effect.Effect<Operation<Request, Response>> => {
  if (candidates.length === 1) return Effect.succeed(withCircuit(candidates[0]))
  return Effect.map(ordered(candidates, model), (order): Operation<Request, Response> => {
    const tryFrom =
      (at: number, before: ReadonlyArray<GatewayError>): Operation<Request, Response> =>
      (call) => {
        const candidate = order[at] ?? candidates[0]
        return withCircuit(candidate)(call).pipe(
          Effect.catch((error) => {
            const errors = [...before, error]
            const next = order[at + 1]
            if (!mayTryNext(operation, error)) return Effect.fail(error)
            const cooled = coolDown(candidate.provider, model, error)
            if (next === undefined) return Effect.andThen(cooled, Effect.fail(selectError(errors, error)))
            const message = `${operation} of ${model} failed at ${candidate.provider.id}. Trying ${next.provider.id}: ${error.reason.message}`
            return cooled.pipe(
              Effect.andThen(
                error.attempt === undefined ? Effect.logDebug(message) : Effect.logWarning(message)
              ),
              Effect.andThen(tryFrom(at + 1, errors)(call))
            )
          })
        )
      }
    return tryFrom(0, [])
  })
}
