/** What stands before each attempt of a client's calls: nothing, unless the program provides a layer of guards. */
import { Context, Effect } from "effect"
import type { About } from "./About.ts"
import type { CallResult, Problem } from "../transport/Answer.ts"

/** Lets an attempt through, now or later, or refuses it. Time that it waits counts for the call, not for the attempt. */
export type Guard = <A>(
  attempt: Effect.Effect<CallResult<A>, Problem>,
  about: About
) => Effect.Effect<CallResult<A>, Problem>

/** What `layerCircuitBreaker` puts before the attempts of the clients that are built with it. */
export const BreakerGuard = Context.Reference<Guard | undefined>("@sluice/core/BreakerGuard", {
  defaultValue: () => undefined
})

/** What `layerRateLimit` puts before the attempts of the clients that are built with it. */
export const LimitGuard = Context.Reference<Guard | undefined>("@sluice/core/LimitGuard", {
  defaultValue: () => undefined
})

/** The guards that a client takes when its layer is built; what the breaker refuses takes no turn of the limit. */
export const Guards: Effect.Effect<ReadonlyArray<Guard>> = Effect.gen(function* () {
  return [yield* BreakerGuard, yield* LimitGuard].filter((guard) => guard !== undefined)
})
