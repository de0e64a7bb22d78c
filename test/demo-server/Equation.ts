/** The ledger equation: everything granted equals balance, open reserves and settled costs. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** One user's sums in quota units. */
export interface Sums {
  readonly user: string
  readonly granted: number
  readonly quota: number
  readonly reserved: number
  readonly settled: number
}

/** All users' sums, read in one statement. */
export const sums = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<Record<"name" | keyof Sums, unknown>>`SELECT users.id AS name, granted, quota,
    COALESCE((SELECT SUM(reserved) FROM charges WHERE user_id = users.id AND state IN ('reserved', 'sent')), 0) AS reserved,
    COALESCE((SELECT SUM(cost) FROM charges WHERE user_id = users.id AND state = 'settled'), 0) AS settled
    FROM users`
  return rows.map((row): Sums => ({
    user: String(row.name),
    granted: Number(row.granted),
    quota: Number(row.quota),
    reserved: Number(row.reserved),
    settled: Number(row.settled)
  }))
})

/** Users that violate granted = quota + open reserves + settled costs. Must be empty at any time. */
export const outOfBalance = Effect.map(sums, (all) =>
  all.filter(({ granted, quota, reserved, settled }) => granted !== quota + reserved + settled || quota < 0)
)
