/** What moves money, as steps of transactions: each guards itself, and undoes nothing of the others. */
import { randomFillSync } from "node:crypto"
import { query, type SqlStep } from "../sql/SqlStep.ts"
import { claim, doubt, forget } from "./Idempotency.ts"
import type { Charge, Purchase, Reservation, Settlement } from "./Reservation.ts"
import { countCall } from "./RateWindow.ts"
import { keyGone } from "./BillingFailures.ts"

/** How long a call that is not heard of is taken to be under way. */
export const LEASE_MS = 120_000

/** When a lease ends that begins now. */
export type Lease = (now: number) => { readonly text: string; readonly value: number }

/** Where nobody else goes by it. */
export const ownLease: Lease = (now) => ({ text: "?", value: now + LEASE_MS })

/** The clock of a PostgreSQL, in ms: those of its servers may differ by more than a lease. */
export const SHARED_CLOCK = "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT"

export const sharedLease: Lease = () => ({ text: `${SHARED_CLOCK} + ?`, value: LEASE_MS })

/** Stands for the lease of a charge that was given back since nothing was heard of it. */
const GIVEN_UP = 0

/** The states of a charge that has not ended. */
export const OPEN = "('reserved', 'sent')"

interface Left {
  readonly units: number
}

interface Ended {
  readonly user_id: string
  readonly token_id: number | null
  readonly reserved: number
  readonly quota_version: number | null
}

/** The largest quota of a key. */
export const LARGEST = Number.MAX_SAFE_INTEGER

/** Random bytes of an id: drawing some for each costs more than the rest of it. */
const BYTES = 9
const drawn = Buffer.alloc(BYTES * 256)
let next = drawn.length

/** Those of one time lie side by side in the index; the rest nobody guesses. */
export const chargeId = (now: number): string => {
  if (next === drawn.length) {
    randomFillSync(drawn)
    next = 0
  }
  return `${now.toString(36).padStart(9, "0")}-${drawn.toString("base64url", next, (next += BYTES))}`
}

/** A key, and how often its quota had been set when something was taken of it. */
interface OfKey {
  readonly id: number
  readonly version: number
}

const keyOf = ({ quota_version, token_id }: Ended): OfKey | undefined =>
  token_id === null || quota_version === null
    ? undefined
    : { id: Number(token_id), version: Number(quota_version) }

/** To a key only what was taken of the quota that it has: who sets it anew says what is left, whatever is under way. */
function* give(user: string, key: OfKey | undefined, units: number): SqlStep<void> {
  if (units === 0) return
  yield* query("UPDATE users SET quota = quota + ? WHERE id = ?", units, user)
  if (key === undefined) return
  // The largest stays the largest, which a number can still tell.
  yield* query(
    `UPDATE tokens SET remain_quota = CASE WHEN remain_quota > ? THEN ?
      ELSE remain_quota + ? END WHERE id = ? AND quota_version = ?`,
    LARGEST - units,
    LARGEST,
    units,
    key.id,
    key.version
  )
}

/** What they have left, of a key that there is. */
type Taken = { readonly user: number; readonly key: number; readonly version: number } | undefined

/** From both balances or from neither: whose was short, or what is left. */
function* take(user: string, key: number | null | undefined, units: number): SqlStep<"user" | "key" | Taken> {
  if (units === 0) return undefined
  const [owner] = yield* query<Left>(
    "UPDATE users SET quota = quota - ? WHERE id = ? AND quota >= ? RETURNING quota AS units",
    units,
    user,
    units
  )
  if (owner === undefined) return "user"
  if (key === null || key === undefined) return undefined
  const [token] = yield* query<Left & { readonly version: number }>(
    `UPDATE tokens SET remain_quota = remain_quota - ? WHERE id = ? AND remain_quota >= ?
      RETURNING remain_quota AS units, quota_version AS version`,
    units,
    key,
    units
  )
  if (token !== undefined) {
    return { user: Number(owner.units), key: Number(token.units), version: Number(token.version) }
  }
  yield* give(user, undefined, units)
  return "key"
}

/** Takes what was reserved and paid meanwhile, which both balances were known to have. */
export function* takeAll(
  users: ReadonlyMap<string, number>,
  keys: ReadonlyMap<number, number>
): SqlStep<void> {
  for (const [id, units] of users) yield* query("UPDATE users SET quota = quota - ? WHERE id = ?", units, id)
  for (const [id, units] of keys) {
    yield* query("UPDATE tokens SET remain_quota = remain_quota - ? WHERE id = ?", units, id)
  }
}

/** Takes what both balances have of an amount; how much that was. */
function* collect(user: string, key: OfKey | undefined, units: number): SqlStep<number> {
  // Writing locks the rows: what is read here holds until the end of the transaction.
  const [owner] = yield* query<Left>(
    "UPDATE users SET quota = quota WHERE id = ? RETURNING quota AS units",
    user
  )
  const [token] = yield* query<Left>(
    "UPDATE tokens SET remain_quota = remain_quota WHERE id = ? AND quota_version = ? RETURNING remain_quota AS units",
    key?.id ?? null,
    key?.version ?? null
  )
  // Of a key that was deleted meanwhile, or whose quota was set, the user's balance is all there is.
  const found = Math.min(units, Number(owner?.units ?? 0), Number(token?.units ?? units))
  yield* take(user, token === undefined ? undefined : key?.id, found)
  return found
}

export function* reserve(
  id: string,
  now: number,
  { creates, idempotency, key, limits, model, operation, tokens, units, user }: Purchase,
  lease = ownLease
): SqlStep<Reservation> {
  const known = idempotency && (yield* claim(user, idempotency, id, now))
  if (known !== undefined) {
    return "answer" in known ? { _tag: "Answered", replay: known } : { _tag: "Refused", failure: known }
  }
  const left = yield* take(user, key, units)
  if (left === "user" || left === "key") {
    if (idempotency !== undefined) yield* forget(user, id)
    const isGone = left === "key" && (yield* query("SELECT 1 FROM tokens WHERE id = ?", key)).length === 0
    return isGone ? { _tag: "Refused", failure: keyGone } : { _tag: "Short", of: left }
  }
  const limited = limits.requestsPerMinute !== undefined || limits.tokensPerMinute !== undefined
  const rate = key === undefined || !limited ? undefined : yield* countCall(key, tokens, limits, now)
  if (rate?.admitted === false) {
    yield* give(user, left && key !== undefined ? { id: key, version: left.version } : undefined, units)
    if (idempotency !== undefined) yield* forget(user, id)
    return { _tag: "Limited", rate }
  }
  const charge = { id, user, key, operation, model, reserved: units, createdAt: now }
  yield* add(charge, creates ? "sent" : "reserved", lease)
  return { _tag: "Reserved", charge, rate, left }
}

export function* add(charge: Charge, state: string, lease = ownLease): SqlStep<void> {
  const { createdAt, id, key, model, operation, reserved, user } = charge
  const until = lease(createdAt)
  yield* query(
    `INSERT INTO charges (id, user_id, token_id, operation, model, state, reserved, lease_until, created_at,
      quota_version) VALUES (?, ?, ?, ?, ?, ?, ?, ${until.text}, ?, (SELECT quota_version FROM tokens WHERE id = ?))`,
    id,
    user,
    key ?? null,
    operation,
    model,
    state,
    reserved,
    until.value,
    createdAt,
    key ?? null
  )
}

/** A charge that was never seen open. */
export function* addSettled(
  { createdAt, id, key, model, operation, reserved, user }: Charge,
  { cost, inputTokens, outputTokens }: Settlement
): SqlStep<void> {
  yield* query(
    `INSERT INTO charges (id, user_id, token_id, operation, model, state, reserved, cost, input_tokens, output_tokens,
      lease_until, created_at) VALUES (?, ?, ?, ?, ?, 'settled', ?, ?, ?, ?, ?, ?)`,
    id,
    user,
    key ?? null,
    operation,
    model,
    reserved,
    cost,
    inputTokens,
    outputTokens,
    createdAt + LEASE_MS,
    createdAt
  )
}

export function* settleOpen(id: string, { cost, inputTokens, outputTokens }: Settlement): SqlStep<boolean> {
  const [row] = yield* query<Ended>(
    `UPDATE charges SET state = 'settled', cost = ?, input_tokens = ?, output_tokens = ?
      WHERE id = ? AND state IN ${OPEN} RETURNING user_id, token_id, reserved, quota_version`,
    cost,
    inputTokens,
    outputTokens,
    id
  )
  if (row === undefined) return false
  const key = keyOf(row)
  const above = cost - Number(row.reserved)
  if (above <= 0) {
    yield* give(row.user_id, key, -above)
    return true
  }
  const more = yield* collect(row.user_id, key, above)
  yield* query(
    "UPDATE charges SET cost = ?, uncollected = ? WHERE id = ?",
    cost - above + more,
    above - more,
    id
  )
  return true
}

/**
 * Settles a charge, of which the reserve may have been lost, with a server that ended or a commit that failed, or given
 * up.
 */
export function* settle(charge: Charge, settlement: Settlement): SqlStep<boolean> {
  if (yield* settleOpen(charge.id, settlement)) return true
  const [reopened] = yield* query(
    `UPDATE charges SET state = 'reserved', reserved = 0
      WHERE id = ? AND state = 'refunded' AND lease_until = ${GIVEN_UP} RETURNING id`,
    charge.id
  )
  if (reopened === undefined) {
    const [known] = yield* query("SELECT id FROM charges WHERE id = ?", charge.id)
    if (known !== undefined) return false
    yield* add({ ...charge, reserved: 0 }, "reserved")
  }
  return yield* settleOpen(charge.id, settlement)
}

/** `inDoubt`: it may have made something all the same, and is not made again under its `Idempotency-Key`. */
export function* refund(id: string, inDoubt = false): SqlStep<boolean> {
  const [row] = yield* query<Ended>(
    `UPDATE charges SET state = 'refunded' WHERE id = ? AND state IN ${OPEN}
      RETURNING user_id, token_id, reserved, quota_version`,
    id
  )
  if (row === undefined) return false
  yield* give(row.user_id, keyOf(row), Number(row.reserved))
  if (inDoubt) yield* doubt(id, row.user_id)
  return true
}

/** Refunds it since nothing is heard of it. Whoever made the call may be there all the same, and settle it later. */
export function* giveUp(id: string, inDoubt: boolean): SqlStep<boolean> {
  yield* query(`UPDATE charges SET lease_until = ${GIVEN_UP} WHERE id = ? AND state IN ${OPEN}`, id)
  return yield* refund(id, inDoubt)
}

/** Of so many in one statement, whose text is the same each time. */
const RENEWED_AT_ONCE = 50
const SOME = `(${Array(RENEWED_AT_ONCE).fill("?").join(", ")})`

export function* renew(ids: ReadonlyArray<string>, { text, value }: ReturnType<Lease>): SqlStep<void> {
  for (let at = 0; at < ids.length; at += RENEWED_AT_ONCE) {
    const some = ids.slice(at, at + RENEWED_AT_ONCE)
    const rest = Array(RENEWED_AT_ONCE - some.length).fill("")
    yield* query(
      `UPDATE charges SET lease_until = ${text} WHERE state IN ${OPEN} AND id IN ${SOME}`,
      value,
      ...some,
      ...rest
    )
  }
}
