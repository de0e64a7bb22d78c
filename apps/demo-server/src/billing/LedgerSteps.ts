/** The changes of money, as steps of transactions. Each guards itself by its WHERE clause. */
import { randomFillSync } from "node:crypto"
import { query, type SqlStep } from "../sql/SqlStep.ts"
import { keyGone } from "./BillingFailures.ts"
import { claim, forget, markOutcomeUnknown } from "./Idempotency.ts"
import { countCalls } from "./RateWindow.ts"
import type { Charge, ReservationRequest, Reservation, Settlement } from "./Reservation.ts"

/** How long a call counts as running after its last sign of life. */
export const LEASE_MS = 120_000

/** The end of a lease that starts now, as SQL and its value. */
export type Lease = (now: number) => { readonly text: string; readonly value: number }

/** By this server's clock, on a database of its own. */
export const ownLease: Lease = (now) => ({ text: "?", value: now + LEASE_MS })

/** PostgreSQL's clock in ms: the clocks of its servers may differ by more than a lease. */
export const SHARED_CLOCK = "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT"

export const sharedLease: Lease = () => ({ text: `${SHARED_CLOCK} + ?`, value: LEASE_MS })

/** In place of a lease: the charge was refunded because nothing was heard of its call. */
const GIVEN_UP = 0

/** The states of a charge that has not ended. */
export const OPEN = "('reserved', 'sent')"

/** The largest quota of a key. */
const LARGEST = Number.MAX_SAFE_INTEGER

/** Random bytes of an id. They are drawn in bulk: drawing costs more than the rest of an id. */
const BYTES = 9
const drawn = Buffer.alloc(BYTES * 256)
let next = drawn.length

/** Ids of one moment lie next to each other in the index; the rest cannot be guessed. */
export const chargeId = (now: number): string => {
  if (next === drawn.length) {
    randomFillSync(drawn)
    next = 0
  }
  return `${now.toString(36).padStart(9, "0")}-${drawn.toString("base64url", next, (next += BYTES))}`
}

/** A key, and the version of its quota from which something was taken. */
interface KeyQuota {
  readonly id: number
  readonly version: number
}

/** A charge that has just ended. */
interface EndedRow {
  readonly id: string
  readonly user_id: string
  readonly token_id: number | null
  readonly reserved: number
  readonly quota_version: number | null
}

const keyQuotaOf = ({ quota_version, token_id }: EndedRow): KeyQuota | undefined =>
  token_id === null || quota_version === null
    ? undefined
    : { id: Number(token_id), version: Number(quota_version) }

/** Returns units. To a key only if its quota was not set anew: that says what is left, whatever is reserved. */
function* giveBack(user: string, key: KeyQuota | undefined, units: number): SqlStep<void> {
  if (units === 0) return
  yield* query("UPDATE users SET quota = quota + ? WHERE id = ?", units, user)
  if (key === undefined) return
  // Capped at the largest number that is exact.
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

/** Takes units from both balances or from neither. Gives the key's quota, or which balance was short. */
function* take(
  user: string,
  key: number | undefined,
  units: number
): SqlStep<"user" | "key" | KeyQuota | undefined> {
  if (units === 0) return undefined
  const owner = yield* query(
    "UPDATE users SET quota = quota - ? WHERE id = ? AND quota >= ? RETURNING id",
    units,
    user,
    units
  )
  if (owner.length === 0) return "user"
  if (key === undefined) return undefined
  const [token] = yield* query<{ readonly version: number }>(
    `UPDATE tokens SET remain_quota = remain_quota - ? WHERE id = ? AND remain_quota >= ?
      RETURNING quota_version AS version`,
    units,
    key,
    units
  )
  if (token !== undefined) return { id: key, version: Number(token.version) }
  yield* giveBack(user, undefined, units)
  return "key"
}

interface UnitsRow {
  readonly units: number
}

/** Takes as much of an amount as both balances have, and gives how much that was. */
function* collect(user: string, key: KeyQuota | undefined, units: number): SqlStep<number> {
  // These updates lock the rows: what they read holds until the end of the transaction.
  const [owner] = yield* query<UnitsRow>(
    "UPDATE users SET quota = quota WHERE id = ? RETURNING quota AS units",
    user
  )
  const [token] = yield* query<UnitsRow>(
    "UPDATE tokens SET remain_quota = remain_quota WHERE id = ? AND quota_version = ? RETURNING remain_quota AS units",
    key?.id ?? null,
    key?.version ?? null
  )
  // Without the key, or with a new quota, only the user's balance counts.
  const found = Math.min(units, Number(owner?.units ?? 0), Number(token?.units ?? units))
  yield* take(user, token === undefined ? undefined : key?.id, found)
  return found
}

/** A purchase to be reserved. */
export interface Reserving {
  readonly id: string
  readonly now: number
  readonly purchase: ReservationRequest
}

function* addCharges(
  charges: ReadonlyArray<Charge>,
  states: ReadonlyArray<string>,
  lease: Lease
): SqlStep<void> {
  const [first] = charges
  if (first === undefined) return
  const { text } = lease(first.createdAt)
  const row = `(?, ?, ?, ?, ?, ?, ?, ${text}, ?, (SELECT quota_version FROM tokens WHERE id = ?))`
  const values = charges.flatMap(({ createdAt, id, key = null, model, operation, reserved, user }, at) => {
    const until = lease(createdAt).value
    return [id, user, key, operation, model, states[at], reserved, until, createdAt, key]
  })
  yield* query(
    `INSERT INTO charges (id, user_id, token_id, operation, model, state, reserved, lease_until, created_at,
      quota_version) VALUES ${charges.map(() => row).join(", ")}`,
    ...values
  )
}

/** Reserves purchases of one user and key together; undefined if they do not all fit. A single one says why not. */
function* reserveTogether(
  items: readonly [Reserving, ...Array<Reserving>],
  lease: Lease
): SqlStep<ReadonlyArray<Reservation> | undefined> {
  const [{ now, purchase }] = items
  const { key, limits, user } = purchase
  const units = items.reduce((sum, item) => sum + item.purchase.units, 0)
  const taken = yield* take(user, key, units)
  if (taken === "user" || taken === "key") {
    return items.length === 1 ? [{ _tag: "Short", of: taken }] : undefined
  }
  const limited = limits.requestsPerMinute !== undefined || limits.tokensPerMinute !== undefined
  const tokens = items.map(({ purchase }) => purchase.tokens)
  const rates = key === undefined || !limited ? undefined : yield* countCalls(key, tokens, limits, now)
  const [rate] = rates ?? []
  if (rates === undefined && key !== undefined && limited) {
    yield* giveBack(user, taken, units)
    return undefined
  }
  if (rate?.admitted === false) {
    yield* giveBack(user, taken, units)
    return [{ _tag: "Limited", rate }]
  }
  const charges = items.map(({ id, now, purchase: { model, operation, units } }): Charge => ({
    id,
    user,
    key,
    operation,
    model,
    reserved: units,
    createdAt: now
  }))
  yield* addCharges(
    charges,
    items.map(({ purchase: { creates } }) => (creates ? "sent" : "reserved")),
    lease
  )
  return charges.map((charge, at) => ({ _tag: "Reserved", charge, rate: rates?.[at] }))
}

/** Reserves one purchase, under its `Idempotency-Key` if it has one. */
function* reserveOne(item: Reserving, lease: Lease): SqlStep<Reservation> {
  const { id, now, purchase } = item
  const { idempotency, key, user } = purchase
  const known = idempotency && (yield* claim(user, idempotency, id, now))
  if (known !== undefined) {
    return "answer" in known ? { _tag: "Answered", replay: known } : { _tag: "Refused", failure: known }
  }
  const [reservation] = (yield* reserveTogether([item], lease)) ?? []
  if (reservation === undefined) throw new Error("A single purchase is reserved or refused")
  if (reservation._tag !== "Reserved" && idempotency !== undefined) yield* forget(user, id)
  const mayBeGone = reservation._tag === "Short" && reservation.of === "key"
  return mayBeGone && (yield* query("SELECT 1 FROM tokens WHERE id = ?", key)).length === 0
    ? { _tag: "Refused", failure: keyGone }
    : reservation
}

/** Purchases of one payer are reserved together, or else one by one. Users and keys are locked in their order. */
export const reserveAll = (lease: Lease) =>
  function* (items: ReadonlyArray<Reserving>): SqlStep<ReadonlyArray<Reservation>> {
    const results = new Map<Reserving, Reservation>()
    const payers = Map.groupBy(items, ({ id, purchase: { idempotency, key, limits, user } }) =>
      idempotency === undefined
        ? `${user} ${key ?? ""} ${limits.requestsPerMinute ?? ""} ${limits.tokensPerMinute ?? ""}`
        : id
    )
    for (const [first, ...more] of payers.values()) {
      if (first === undefined) continue
      const together = more.length === 0 ? undefined : yield* reserveTogether([first, ...more], lease)
      for (const [at, item] of [first, ...more].entries()) {
        results.set(item, together?.[at] ?? (yield* reserveOne(item, lease)))
      }
    }
    return items.map((item) => results.get(item) as Reservation)
  }

/** A charge, and what it is settled for. */
export interface Settling {
  readonly charge: Charge
  readonly settlement: Settlement
}

/** Settles those charges that are open, and gives their ids. Reserves that were not used go back in one sum for each payer. */
function* settleOpen(items: ReadonlyArray<Settling>): SqlStep<Set<string>> {
  const rows = yield* query<EndedRow>(
    `UPDATE charges SET state = 'settled', cost = v.column2, input_tokens = v.column3, output_tokens = v.column4
      FROM (VALUES ${items.map(() => "(?, CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT))").join(", ")}) AS v
      WHERE charges.id = v.column1 AND state IN ${OPEN}
      RETURNING charges.id, user_id, token_id, reserved, quota_version`,
    ...items.flatMap(({ charge: { id }, settlement: { cost, inputTokens, outputTokens } }) => [
      id,
      cost,
      inputTokens,
      outputTokens
    ])
  )
  const costs = new Map(items.map(({ charge, settlement }) => [charge.id, settlement.cost]))
  const unused = new Map<string, { readonly row: EndedRow; units: number }>()
  for (const row of rows) {
    const cost = costs.get(row.id) ?? 0
    const above = cost - Number(row.reserved)
    if (above > 0) yield* collectAbove(row, cost, above)
    else {
      const payer = `${row.user_id} ${row.token_id} ${row.quota_version}`
      const sum = unused.get(payer) ?? { row, units: 0 }
      sum.units -= above
      unused.set(payer, sum)
    }
  }
  for (const { row, units } of unused.values()) yield* giveBack(row.user_id, keyQuotaOf(row), units)
  return new Set(rows.map(({ id }) => id))
}

/** Takes a cost above the reserve from what remains, and records the rest as uncollected. */
function* collectAbove(row: EndedRow, cost: number, above: number): SqlStep<void> {
  const collected = yield* collect(row.user_id, keyQuotaOf(row), above)
  yield* query(
    "UPDATE charges SET cost = ?, uncollected = ? WHERE id = ?",
    cost - above + collected,
    above - collected,
    row.id
  )
}

/** Opens a charge again whose reserve was lost with a server or a commit, or was given up. False if it has ended. */
function* reopen(charge: Charge): SqlStep<boolean> {
  const [reopened] = yield* query(
    `UPDATE charges SET state = 'reserved', reserved = 0
      WHERE id = ? AND state = 'refunded' AND lease_until = ${GIVEN_UP} RETURNING id`,
    charge.id
  )
  if (reopened !== undefined) return true
  const [known] = yield* query("SELECT id FROM charges WHERE id = ?", charge.id)
  if (known !== undefined) return false
  yield* addCharges([{ ...charge, reserved: 0 }], ["reserved"], ownLease)
  return true
}

/** Settles charges, and gives for each whether it had an effect. */
export function* settleAll(items: ReadonlyArray<Settling>): SqlStep<ReadonlyArray<boolean>> {
  const settled = yield* settleOpen([...new Map(items.map((item) => [item.charge.id, item])).values()])
  const results: Array<boolean> = []
  for (const item of items) {
    const { id } = item.charge
    if (settled.delete(id)) results.push(true)
    else results.push((yield* reopen(item.charge)) && (yield* settleOpen([item])).has(id))
  }
  return results
}

/** `outcomeUnknown`: the call may have created something, and its `Idempotency-Key` does not create it again. */
export function* refund(id: string, outcomeUnknown = false): SqlStep<boolean> {
  const [row] = yield* query<EndedRow>(
    `UPDATE charges SET state = 'refunded' WHERE id = ? AND state IN ${OPEN}
      RETURNING id, user_id, token_id, reserved, quota_version`,
    id
  )
  if (row === undefined) return false
  yield* giveBack(row.user_id, keyQuotaOf(row), Number(row.reserved))
  if (outcomeUnknown) yield* markOutcomeUnknown(id, row.user_id)
  return true
}

/** Refunds a charge because nothing is heard of its call, which may still settle it later. */
export function* giveUp(id: string, outcomeUnknown: boolean): SqlStep<boolean> {
  yield* query(`UPDATE charges SET lease_until = ${GIVEN_UP} WHERE id = ? AND state IN ${OPEN}`, id)
  return yield* refund(id, outcomeUnknown)
}

/** Charges of one statement, whose text is always the same. */
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
