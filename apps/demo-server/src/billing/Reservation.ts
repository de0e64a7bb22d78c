/** What the ledger is asked for, and what it answers. */
import type { Failure } from "@sluice/core/contract"
import type { Idempotency, Replay } from "./Idempotency.ts"
import type { RateLimits } from "../accounts/KeyLimits.ts"
import type { RateState } from "./RateWindow.ts"

/** What is to be paid for. */
export interface Purchase {
  readonly user: string
  /** The API key's id; absent: the page's session, which the user's balance alone bounds. */
  readonly key?: number | undefined
  readonly operation: string
  readonly model: string
  /** Quota units at most. */
  readonly units: number
  /** Tokens at most, which count towards the key's limit. */
  readonly tokens: number
  /** It makes something elsewhere, and may have done so when nothing is heard of it. */
  readonly creates: boolean
  readonly limits: RateLimits
  readonly idempotency?: Idempotency | undefined
}

/** A reserve that is open. */
export interface Charge {
  readonly id: string
  readonly user: string
  readonly key?: number | undefined
  readonly operation: string
  readonly model: string
  readonly reserved: number
  /** Epoch milliseconds. */
  readonly createdAt: number
}

/** What a call came to. */
export interface Settlement {
  readonly cost: number
  readonly inputTokens: number
  readonly outputTokens: number
}

export interface Reserved {
  readonly _tag: "Reserved"
  readonly charge: Charge
  readonly rate: RateState | undefined
}

/** What becomes of a purchase. */
export type Reservation =
  | Reserved
  | { readonly _tag: "Short"; readonly of: "user" | "key" }
  | { readonly _tag: "Limited"; readonly rate: RateState }
  | { readonly _tag: "Answered"; readonly replay: Replay }
  | { readonly _tag: "Refused"; readonly failure: Failure }
