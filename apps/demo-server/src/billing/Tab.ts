/**
 * What an API key's calls take and pay, held in memory for some milliseconds and written together.
 *
 * A lone call's seven statements cost as much as all the rest of it (docs/decisions/0014). Where a reserve has told what
 * both balances and the window have left, and nobody has changed them since, the next that they surely cover needs none.
 * Nothing else is decided here: whatever is not surely covered, the ledger's steps decide, after all of this is written.
 */
import type { Asking } from "../sql/SqlStep.ts"
import { add, addSettled, LARGEST, settle, settleOpen, takeAll } from "./LedgerSteps.ts"
import type { Charge, Purchase, Reservation, Reserved, Settlement } from "./Reservation.ts"
import type { RateLimits } from "../accounts/KeyLimits.ts"
import { fits, putWindow, stateOf, type Window, windowOf } from "./RateWindow.ts"

export interface Tab {
  /** What a step has told, within its transaction. */
  readonly learn: (purchase: Purchase, reservation: Reservation, now: number) => void
  /** Somebody else may have changed what is known; what is held stays. */
  readonly forget: () => void
  /** A reserve that is surely covered; undefined: ask the database. */
  readonly reserve: (id: string, now: number, purchase: Purchase) => Reserved | undefined
  readonly settle: (charge: Charge, settlement: Settlement) => void
  /** Charges that are not written. */
  readonly size: () => number
  /** Writes all that is held, which is held no more then, even where that fails. */
  readonly write: () => Asking<void>
}

/** Users and keys that are known at most. */
const KNOWN = 10_000

interface Left {
  units: number
}

interface LeftOfKey extends Left {
  window: Window | undefined
}

interface Ended {
  readonly charge: Charge
  readonly settlement: Settlement
  /** Its reserve is not written. */
  readonly isNew: boolean
}

const plus = <K>(sums: Map<K, number>, key: K, units: number) => sums.set(key, (sums.get(key) ?? 0) + units)

/** `version` is another after each statement that may have changed anything. */
export const makeTab = (version: () => number): Tab => {
  // At least so much is left: what is held is taken off, what is to be given back later is not added.
  const users = new Map<string, Left>()
  const keys = new Map<number, LeftOfKey>()
  let known = version()

  let open = new Map<string, Charge>()
  let ended: Array<Ended> = []
  let ofUsers = new Map<string, number>()
  let ofKeys = new Map<number, number>()
  let windows = new Map<number, Window>()

  const forget = () => {
    users.clear()
    keys.clear()
    known = version()
  }

  const giveBack = ({ key, user }: Pick<Charge, "key" | "user">, units: number) => {
    const owner = users.get(user)
    if (owner !== undefined) owner.units += units
    const held = key === undefined ? undefined : keys.get(key)
    if (held !== undefined) held.units = Math.min(LARGEST, held.units + units)
  }

  /** The window after this call, where it surely lets it in; undefined where there are no limits. */
  const windowAfter = (
    window: Window | undefined,
    tokens: number,
    limits: RateLimits,
    now: number
  ): Window | "ask" | undefined => {
    if (limits.requestsPerMinute === undefined && limits.tokensPerMinute === undefined) return undefined
    if (window === undefined || window.start !== windowOf(now) || !fits(window, tokens, limits)) return "ask"
    return { start: window.start, requests: window.requests + 1, tokens: window.tokens + tokens }
  }

  return {
    forget,
    learn: ({ key, user }, reservation, now) => {
      if (known !== version() || users.size > KNOWN || keys.size > KNOWN) forget()
      // Who is refused has lost nothing by it.
      if (reservation._tag !== "Reserved" || key === undefined) return
      const { left, rate } = reservation
      if (left === undefined) return void keys.delete(key)
      users.set(user, { units: left.user })
      const { requests = 0, tokens = 0 } = rate ?? {}
      const window = rate && { start: windowOf(now), requests, tokens }
      keys.set(key, { units: left.key, window })
    },
    reserve: (id, now, { creates, idempotency, key, limits, model, operation, tokens, units, user }) => {
      if (known !== version()) forget()
      if (creates || idempotency !== undefined || key === undefined) return undefined
      const [owner, held] = [users.get(user), keys.get(key)]
      if (owner === undefined || held === undefined) return undefined
      if (owner.units < units || held.units < units) return undefined
      const window = windowAfter(held.window, tokens, limits, now)
      if (window === "ask") return undefined
      owner.units -= units
      held.units -= units
      plus(ofUsers, user, units)
      plus(ofKeys, key, units)
      if (window !== undefined) {
        held.window = window
        windows.set(key, window)
      }
      const charge = { id, user, key, operation, model, reserved: units, createdAt: now }
      open.set(id, charge)
      return { _tag: "Reserved", charge, rate: window && stateOf(limits, window, true, now), left: undefined }
    },
    settle: (charge, settlement) => {
      const isNew = open.delete(charge.id)
      ended.push({ charge, settlement, isNew })
      if (!isNew) return
      const back = charge.reserved - settlement.cost
      plus(ofUsers, charge.user, -back)
      if (charge.key !== undefined) plus(ofKeys, charge.key, -back)
      giveBack(charge, back)
    },
    size: () => open.size + ended.length,
    write: function* () {
      const [opened, settled, userSums, keySums, counted] = [open, ended, ofUsers, ofKeys, windows]
      open = new Map()
      ended = []
      ofUsers = new Map()
      ofKeys = new Map()
      windows = new Map()
      yield* takeAll(userSums, keySums)
      for (const [key, window] of counted) yield* putWindow(key, window)
      for (const charge of opened.values()) yield* add(charge, "reserved")
      for (const { charge, isNew, settlement } of settled) {
        if (isNew) yield* addSettled(charge, settlement)
        else if (yield* settleOpen(charge.id, settlement)) {
          // Its key may have been given another quota meanwhile: that it has more again, the next step tells.
          giveBack({ user: charge.user }, charge.reserved - settlement.cost)
        } else {
          // Of a reserve that was lost with a commit, nothing was taken that could be given back.
          yield* settle(charge, settlement)
          forget()
        }
      }
    }
  }
}
