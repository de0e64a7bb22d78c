/** Checks the accounts: whether SQLite's file is whole, and whether the ledger's equation holds. */
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"

/** The first five things that SQLite finds wrong with its file. PostgreSQL checks its own. */
const fileFaults = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const check = sql<{ readonly quick_check: string }>`PRAGMA quick_check(5)`
  return yield* sql.onDialectOrElse({
    pg: () => Effect.succeed<ReadonlyArray<string>>([]),
    orElse: () =>
      Effect.map(check, (rows) => rows.map((row) => row.quick_check).filter((found) => found !== "ok"))
  })
})

/** For each user: granted = quota + open reserves + settled costs. */
const ledgerFaults = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly id: string; readonly difference: number }>`SELECT id,
      granted - quota - taken AS difference FROM (SELECT id, granted, quota, COALESCE((SELECT
        SUM(CASE state WHEN 'settled' THEN cost WHEN 'refunded' THEN 0 ELSE reserved END)
        FROM charges WHERE user_id = users.id), 0) AS taken FROM users) AS sums
      WHERE granted <> quota + taken ORDER BY id`
  return rows.map(
    ({ difference, id }) =>
      `The balance of user ${id} differs by ${difference} units from what was granted, reserved and settled`
  )
})

/** `file`: the file is damaged and must be restored. `ledger`: balances that are wrong. */
export interface AccountFaults {
  readonly file: ReadonlyArray<string>
  readonly ledger: ReadonlyArray<string>
}

/** The ledger of a damaged file is not checked. */
export const accountFaults: Effect.Effect<AccountFaults, SqlError.SqlError, SqlClient.SqlClient> = Effect.gen(
  function* () {
    const file = yield* fileFaults
    return { file, ledger: file.length === 0 ? yield* ledgerFaults : [] }
  }
)
