/** The records of the ledger. */
import type { Failure } from "@sluice/core/contract"
import type { Idempotency, Replay } from "./Idempotency.ts"
import type { RateLimits } from "../accounts/KeyLimits.ts"
import type { RateState } from "./RateWindow.ts"
import { randomFillSync } from "node:crypto"

/** A call for which units are reserved. */
export interface ReservationRequest {
  readonly user: string
  /** The API key's id. Without one, as for the page's session, only the user's balance is debited. */
  readonly key?: number | undefined
  readonly operation: string
  readonly model: string
  /** Quota units at most. */
  readonly units: number
  /** Tokens at most. They count towards the key's limit. */
  readonly tokens: number
  /** The call creates something upstream, and may have done so even if no response comes. */
  readonly creates: boolean
  readonly limits: RateLimits
  readonly idempotency?: Idempotency | undefined
}

/** A reserved call. */
export interface Charge {
  readonly id: string
  readonly user: string
  readonly key?: number | undefined
  readonly operation: string
  readonly model: string
  /** Quota units. */
  readonly reserved: number
  /** Epoch milliseconds. */
  readonly createdAt: number
}

/** The cost of a call, in quota units, and its tokens. */
export interface Settlement {
  readonly cost: number
  readonly inputTokens: number
  readonly outputTokens: number
}

/** The result of a reservation. */
export type Reservation =
  | { readonly _tag: "Reserved"; readonly charge: Charge; readonly rate: RateState | undefined }
  | { readonly _tag: "InsufficientQuota"; readonly of: "user" | "key" }
  | { readonly _tag: "RateLimited"; readonly rate: RateState }
  | { readonly _tag: "Replayed"; readonly replay: Replay }
  | { readonly _tag: "Rejected"; readonly failure: Failure }

/** Random bytes of an id. They are generated in bulk, because one call for each id costs more than the rest of the id. */
const RANDOM_BYTES = 9
const randomPool = Buffer.alloc(RANDOM_BYTES * 256)
let next = randomPool.length

/** A unique id that cannot be guessed. It starts with the time, so that new rows are neighbours in the index. */
export const chargeId = (now: number): string => {
  if (next === randomPool.length) {
    randomFillSync(randomPool)
    next = 0
  }
  return `${now.toString(36).padStart(9, "0")}-${randomPool.toString("base64url", next, (next += RANDOM_BYTES))}`
}
