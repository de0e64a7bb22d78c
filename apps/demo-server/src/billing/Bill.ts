/** What the calls that are made for one request come to together. */
import { Context, Deferred, Effect } from "effect"
import type { CallCount } from "./RateWindow.ts"

/** The charges of one request, as they are opened; each tells when it has ended. */
export interface Bill {
  /** A charge of so many tokens has been opened; the effect is to be run when it has ended. */
  readonly open: (charge: string, tokens: number) => Effect.Effect<void>
  /** What they have taken of a minute's limits. */
  readonly counted: () => CallCount
  /** The charges so far, once all of them have ended. */
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

/** The bill on which charges of now are put; elsewhere one that nobody reads. */
export const CurrentBill = Context.Reference<Omit<Bill, "charges">>("@sluice/demo-server/CurrentBill", {
  defaultValue: () => ({ open: () => Effect.void, counted: () => ({ requests: 0, tokens: 0 }) })
})
