/** The charges of all calls of one request. */
import { Context, Deferred, Effect } from "effect"
import type { CallCount } from "./RateWindow.ts"

/** The charges of one request. */
export interface Bill {
  /** Adds a charge, and returns an effect to run when the charge has ended. */
  readonly open: (charge: string, tokens: number) => Effect.Effect<void>
  /** The calls and tokens that count towards the limits per minute. */
  readonly counted: () => CallCount
  /** The charges, once all of them have ended. */
  readonly charges: Effect.Effect<ReadonlyArray<string>>
}

export const makeBill = (): Bill => {
  const ends = new Map<string, Deferred.Deferred<void>>()
  let counted = 0
  return {
    counted: () => ({ requests: ends.size, tokens: counted }),
    open: (charge, tokens) => {
      counted += tokens
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
  defaultValue: () => ({ open: () => Effect.void, counted: () => ({ requests: 0, tokens: 0 }) })
})
