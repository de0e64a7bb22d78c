/** A removal that is told on a further attempt that nothing is there: one before may have done it, and its answer been lost. */
import { Effect } from "effect"
import type { GatewayError } from "../../contract/GatewayError.ts"

export const orGone = <A>(removal: Effect.Effect<A, GatewayError>): Effect.Effect<void, GatewayError> =>
  removal.pipe(
    Effect.asVoid,
    Effect.catchIf(
      ({ attempt = 1, reason }) => reason._tag === "NotFound" && attempt > 1,
      () => Effect.void
    )
  )
