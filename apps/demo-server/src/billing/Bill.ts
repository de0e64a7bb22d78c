/** The charges of all calls of one request. */
import { Context, Deferred, Effect } from "effect"
import type { CallCount } from "./RateWindow.ts"

/** The charges of one request. */
export interface Bill {
  /** Adds a charge, and returns an effect to run when the charge has ended. */
  readonly open: (charge: string, tokens: number) => Effect.Effect<void>
  /** The calls and tokens that count towards the limits per minute. */
  readonly callCount: () => CallCount
  /** The charges, once all of them have ended. */
  readonly charges: Effect.Effect<ReadonlyArray<string>>
}

export const makeBill = (): Bill => {
  const ends = new Map<string, Deferred.Deferred<void>>()
  let tokenCount = 0
  return {
    callCount: () => ({ requests: ends.size, tokens: tokenCount }),
    open: (charge, tokens) => {
      tokenCount += tokens
      const ended = Deferred.makeUnsafe<void>()
      ends.set(charge, ended)
      return Effect.asVoid(Deferred.succeed(ended, undefined))
    },
    charges: Effect.suspend(() =>
      Effect.as(
        Effect.forEach(ends.values(), (ended) => Deferred.await(ended), { discard: true }),
        [...ends.keys()]
      )
    )
  }
}

/** The bill of the current request. The default records nothing. */
export const CurrentBill = Context.Reference<Omit<Bill, "charges">>("@sluice/demo-server/CurrentBill", {
  defaultValue: () => ({ open: () => Effect.void, callCount: () => ({ requests: 0, tokens: 0 }) })
})
