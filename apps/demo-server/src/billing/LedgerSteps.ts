/** The ledger's statements, as steps of transactions. The WHERE clause of each makes it safe to repeat. */
import { randomInt } from "node:crypto"
import {
  placeholders,
  query,
  queryTogether,
  type SqlQuery,
  sqlQuery,
  type SqlStep,
  write
} from "../sql/SqlStep.ts"
import { endedCredential } from "../accounts/EndedCredentials.ts"
import { claimKey, releaseKey, markOutcomeUnknown } from "./Idempotency.ts"
import {
  admittedStates,
  type CallCount,
  countCalls,
  type CountedCalls,
  exceedLimits,
  refusedState,
  uncountCalls
} from "./RateWindow.ts"
import { type Lease, OPEN, ownLease } from "./Lease.ts"
import type { Charge, ReservationRequest, Reservation, Settlement } from "./Reservation.ts"

/** `lease_until` of a charge that was refunded because its lease expired: a late settlement reopens it. */
const REOPENABLE = 0

/** The largest quota of a key. */
const LARGEST = Number.MAX_SAFE_INTEGER

/** A key, and the version of its quota that was debited. */
interface KeyQuota {
  readonly id: number
  readonly version: number
}

/** A charge that was just settled. */
interface SettledRow {
  readonly id: string
  readonly user_id: string
  readonly token_id: number | null
  readonly reserved: number
  readonly quota_version: number | null
}

const keyQuotaOf = ({ quota_version, token_id }: SettledRow): KeyQuota | undefined =>
  token_id === null || quota_version === null
    ? undefined
    : { id: Number(token_id), version: Number(quota_version) }

const returnToUser = (user: string, units: number): SqlStep<void> =>
  write("UPDATE users SET quota = quota + ? WHERE id = ?", units, user)

/** Returns units to a key unless its quota was changed since: a new quota excludes open reserves. */
const returnToKey = (key: KeyQuota, units: number): SqlStep<void> =>
  // Capped at the largest number that is exact.
  write(
    `UPDATE tokens SET remain_quota = CASE WHEN remain_quota > ? THEN ?
      ELSE remain_quota + ? END WHERE id = ? AND quota_version = ?`,
    LARGEST - units,
    LARGEST,
    units,
    key.id,
    key.version
  )

/** A new call needs an enabled user and key; what runs is settled also after they were disabled. */
const ENABLED = "AND status = 1"

/** Takes units from a balance. Returns a row if the balance suffices, and `condition` holds. */
const takeFromUser = (user: string, units: number, condition = ""): SqlQuery =>
  sqlQuery(
    `UPDATE users SET quota = quota - ? WHERE id = ? AND quota >= ? ${condition} RETURNING id`,
    units,
    user,
    units
  )
const takeFromKey = (key: number | undefined, units: number, condition = ""): SqlQuery =>
  sqlQuery(
    `UPDATE tokens SET remain_quota = remain_quota - ? WHERE id = ? AND remain_quota >= ? ${condition}
      RETURNING quota_version AS version`,
    units,
    key ?? null,
    units
  )

interface UnitsRow {
  readonly units: number
}

/** Takes at most `units`, as far as both balances suffice. Returns the amount. */
function* takeAvailable(user: string, key: KeyQuota | undefined, units: number): SqlStep<number> {
  // These updates lock the rows, so that the balances do not change until the transaction ends.
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
  if (found > 0) {
    yield* queryTogether([
      takeFromUser(user, found),
      ...(token === undefined ? [] : [takeFromKey(key?.id, found)])
    ])
  }
  return found
}

/** A reservation in a group. `id` is the id of its charge. */
interface ReservationItem {
  readonly id: string
  readonly now: number
  readonly request: ReservationRequest
}

const addCharges = (
  charges: readonly [Charge, ...Array<Charge>],
  states: ReadonlyArray<string>,
  lease: Lease
): SqlQuery => {
  const { text } = lease(charges[0].createdAt)
  const row = `(?, ?, ?, ?, ?, ?, ?, ${text}, ?, (SELECT quota_version FROM tokens WHERE id = ?))`
  const values = charges.flatMap(({ createdAt, id, key = null, model, operation, reserved, user }, at) => {
    const until = lease(createdAt).value
    return [id, user, key, operation, model, states[at], reserved, until, createdAt, key]
  })
  return {
    text: `INSERT INTO charges (id, user_id, token_id, operation, model, state, reserved, lease_until, created_at,
      quota_version) VALUES ${charges.map(() => row).join(", ")}`,
    values
  }
}

/**
 * Reserves for several calls of one user and key; undefined if they do not all fit. A single one returns the reason.
 *
 * **Details.** All statements are sent together. If one has no effect, the others are undone.
 */
function* reserveTogether(
  items: readonly [ReservationItem, ...Array<ReservationItem>],
  lease: Lease
): SqlStep<ReadonlyArray<Reservation> | undefined> {
  const [{ now, request }] = items
  const { key, limits, user } = request
  const units = items.reduce((sum, item) => sum + item.request.units, 0)
  const chargeOf = ({ id, now, request: { model, operation, units } }: ReservationItem): Charge => ({
    id,
    user,
    key,
    operation,
    model,
    reserved: units,
    createdAt: now
  })
  const [first, ...more] = items
  const charges = [chargeOf(first), ...more.map(chargeOf)] as const
  const states = items.map(({ request: { creates } }) => (creates ? "sent" : "reserved"))
  const isLimited = limits.requestsPerMinute !== undefined || limits.tokensPerMinute !== undefined
  const calls: CountedCalls | undefined =
    key === undefined || !isLimited
      ? undefined
      : { key, tokens: items.map(({ request }) => request.tokens), limits, now }
  if (calls !== undefined && exceedLimits(calls)) return undefined
  const [[owner], [token], [total]] = yield* queryTogether<
    [
      ReadonlyArray<object>,
      ReadonlyArray<{ readonly version: number }>,
      ReadonlyArray<CallCount>,
      ReadonlyArray<object>
    ]
  >([
    units === 0 ? undefined : takeFromUser(user, units, ENABLED),
    units === 0 || key === undefined ? undefined : takeFromKey(key, units, ENABLED),
    calls && countCalls(calls),
    addCharges(charges, states, lease)
  ])
  const refusedBy =
    units > 0 && owner === undefined
      ? "user"
      : units > 0 && key !== undefined && token === undefined
        ? "key"
        : calls !== undefined && total === undefined
          ? "limits"
          : undefined
  if (refusedBy === undefined) {
    const rates = calls && total && admittedStates(calls, total)
    return charges.map((charge, at) => ({ _tag: "Reserved", charge, rate: rates?.[at] }))
  }
  if (owner !== undefined) yield* returnToUser(user, units)
  if (key !== undefined && token !== undefined) {
    yield* returnToKey({ id: key, version: Number(token.version) }, units)
  }
  if (calls !== undefined && total !== undefined) yield* uncountCalls(calls)
  const ids = charges.map(({ id }) => id)
  yield* write(`DELETE FROM charges WHERE id IN (${placeholders(ids)})`, ...ids)
  if (items.length > 1) return undefined
  return refusedBy === "limits" && calls !== undefined
    ? [{ _tag: "RateLimited", rate: yield* refusedState(calls) }]
    : [{ _tag: "InsufficientQuota", of: refusedBy === "user" ? "user" : "key" }]
}

/** Whether a key may have a stored response: the key that paid for it, and keys that could pay for it. */
function* mayReplay({ idempotency, key, units, user }: ReservationRequest): SqlStep<boolean> {
  if (key === undefined) return true
  const found = yield* query(
    `SELECT 1 FROM tokens WHERE id = ? AND (remain_quota >= ? OR id = (SELECT token_id FROM charges WHERE id =
      (SELECT charge_id FROM idempotency WHERE user_id = ? AND name = ?)))`,
    key,
    units,
    user,
    idempotency?.name
  )
  return found.length > 0
}

/** Reserves for one call, under its `Idempotency-Key` if it has one. */
function* reserveOne(item: ReservationItem, lease: Lease): SqlStep<Reservation> {
  const { id, now, request } = item
  const { idempotency, user } = request
  const known = idempotency && (yield* claimKey(user, idempotency, id, now))
  if (known !== undefined) {
    if (!("answer" in known)) return { _tag: "Rejected", failure: known }
    return (yield* mayReplay(request))
      ? { _tag: "Replayed", replay: known }
      : { _tag: "InsufficientQuota", of: "key" }
  }
  const [reservation] = (yield* reserveTogether([item], lease)) ?? []
  if (reservation === undefined) throw new Error("A single reservation always has a result")
  if (reservation._tag !== "Reserved" && idempotency !== undefined) yield* releaseKey(user, id)
  const failure =
    reservation._tag === "InsufficientQuota" ? yield* endedCredential(reservation.of, request) : undefined
  return failure === undefined ? reservation : { _tag: "Rejected", failure }
}

/** Reserves for all calls of a payer together if they fit, or else one by one. Users and keys are locked in their order. */
export const reserveAll = (lease: Lease) =>
  function* (items: ReadonlyArray<ReservationItem>): SqlStep<ReadonlyArray<Reservation>> {
    const results = new Map<ReservationItem, Reservation>()
    const payers = Map.groupBy(items, ({ id, request: { idempotency, key, limits, user } }) =>
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

/** A settlement in a group. */
interface SettlementItem {
  readonly charge: Charge
  readonly settlement: Settlement
}

/** Marks the charges that one step ends, in `lease_until`. Leases and `REOPENABLE` are not negative. */
let endMark = -randomInt(2 ** 47)

/** Returns the unused reserves of the charges that have a mark: one sum for each payer. */
const returnUnused = (mark: number, ids: ReadonlyArray<string>): ReadonlyArray<SqlQuery> => {
  const unused = (columns: string) =>
    `(SELECT ${columns}, CAST(SUM(reserved - cost) AS BIGINT) AS units FROM charges
      WHERE lease_until = ? AND reserved > cost AND id IN (${placeholders(ids)}) GROUP BY ${columns}) AS unused`
  return [
    sqlQuery(
      `UPDATE users SET quota = quota + unused.units FROM ${unused("user_id")} WHERE users.id = unused.user_id`,
      mark,
      ...ids
    ),
    // Unless the key's quota was changed since: a new quota excludes open reserves. Capped at the largest exact number.
    sqlQuery(
      `UPDATE tokens SET remain_quota = CASE WHEN remain_quota > ? - unused.units THEN ? ELSE remain_quota + unused.units END
      FROM ${unused("token_id, quota_version")}
      WHERE tokens.id = unused.token_id AND tokens.quota_version = unused.quota_version`,
      LARGEST,
      LARGEST,
      mark,
      ...ids
    )
  ]
}

/**
 * Settles the open ones of the charges, returns their unused reserves, and returns their ids.
 *
 * **Details.** All statements are sent together, with the commit if no cost exceeds its reserve. Then a charge whose reserve
 * is smaller than expected stays open.
 */
function* settleOpen(items: ReadonlyArray<SettlementItem>, maySendCommit: boolean): SqlStep<Set<string>> {
  if (items.length === 0) return new Set()
  const isLast = maySendCommit && items.every(({ charge, settlement }) => settlement.cost <= charge.reserved)
  const ids = items.map(({ charge }) => charge.id)
  const mark = endMark--
  const [rows] = yield* queryTogether<[ReadonlyArray<SettledRow>]>(
    [
      sqlQuery(
        `UPDATE charges SET state = 'settled', cost = v.column2, input_tokens = v.column3, output_tokens = v.column4,
          lease_until = ?
        FROM (VALUES ${items.map(() => "(?, CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT))").join(", ")}) AS v
        WHERE charges.id = v.column1 AND state IN ${OPEN}${isLast ? " AND reserved >= v.column2" : ""}
        RETURNING charges.id, user_id, token_id, reserved, quota_version`,
        mark,
        ...items.flatMap(({ charge: { id }, settlement: { cost, inputTokens, outputTokens } }) => [
          id,
          cost,
          inputTokens,
          outputTokens
        ])
      ),
      ...returnUnused(mark, ids)
    ],
    isLast
  )
  const costs = new Map(items.map(({ charge, settlement }) => [charge.id, settlement.cost]))
  for (const row of rows) {
    const cost = costs.get(row.id) ?? 0
    const above = cost - Number(row.reserved)
    if (above > 0) yield* collectOverrun(row, cost, above)
  }
  return new Set(rows.map(({ id }) => id))
}

/** Takes the cost above the reserve from the balances, and records what they do not cover as `uncollected`. */
function* collectOverrun(row: SettledRow, cost: number, above: number): SqlStep<void> {
  const collected = yield* takeAvailable(row.user_id, keyQuotaOf(row), above)
  yield* query(
    "UPDATE charges SET cost = ?, uncollected = ? WHERE id = ?",
    cost - above + collected,
    above - collected,
    row.id
  )
}

/**
 * Reopens a charge that was refunded because its lease expired, or adds one whose reserve was lost with a server or a
 * commit. False if the charge has ended otherwise.
 */
function* reopen(charge: Charge): SqlStep<boolean> {
  const [reopened] = yield* query(
    `UPDATE charges SET state = 'reserved', reserved = 0
      WHERE id = ? AND state = 'refunded' AND lease_until = ${REOPENABLE} RETURNING id`,
    charge.id
  )
  if (reopened !== undefined) return true
  const [known] = yield* query("SELECT id FROM charges WHERE id = ?", charge.id)
  if (known !== undefined) return false
  const { text, values } = addCharges([{ ...charge, reserved: 0 }], ["reserved"], ownLease)
  yield* write(text, ...values)
  return true
}

/** Settles charges, and returns for each whether it had an effect. */
export function* settleAll(items: ReadonlyArray<SettlementItem>): SqlStep<ReadonlyArray<boolean>> {
  const settled = yield* settleOpen([...new Map(items.map((item) => [item.charge.id, item])).values()], true)
  const results: Array<boolean> = []
  for (const item of items) {
    const { id } = item.charge
    const settle = function* () {
      return (yield* settleOpen([item], false)).has(id)
    }
    results.push(
      settled.delete(id) || (yield* settle()) || ((yield* reopen(item.charge)) && (yield* settle()))
    )
  }
  return results
}

/**
 * Refunds a charge, and returns whether that had an effect.
 *
 * **Details.** `outcomeUnknown`: the call may have created something, so its `Idempotency-Key` must not create it again.
 * `isExpired`: its lease has expired, and its call may still settle it later.
 */
export function* refund(id: string, outcomeUnknown = false, isExpired = false): SqlStep<boolean> {
  const mark = endMark--
  const [[row]] = yield* queryTogether<[ReadonlyArray<{ readonly user_id: string }>]>([
    sqlQuery(
      `UPDATE charges SET state = 'refunded', lease_until = ? WHERE id = ? AND state IN ${OPEN} RETURNING user_id`,
      mark,
      id
    ),
    ...returnUnused(mark, [id])
  ])
  if (row === undefined) return false
  if (isExpired) yield* write("UPDATE charges SET lease_until = ? WHERE id = ?", REOPENABLE, id)
  if (outcomeUnknown) yield* markOutcomeUnknown(id, row.user_id)
  return true
}
