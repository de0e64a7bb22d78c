/** A database that cannot commit: no call is made on a reservation that is lost. */
import { assert, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import { Ledger } from "../../apps/demo-server/src/billing/Ledger.ts"
import { addUser, balances, requestOf, withLedger } from "./LedgerIn.ts"
import { onEachStore } from "./Stores.ts"

/** Makes every commit of a new charge fail: on SQLite when the file is full, on PostgreSQL at COMMIT. */
const breakCommits = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const onSqlite = Effect.gen(function* () {
    const [row] = yield* sql<{ page_count: number }>`PRAGMA page_count`
    yield* sql.unsafe(`PRAGMA max_page_count = ${row?.page_count}`)
  })
  const onPostgres = Effect.gen(function* () {
    yield* sql`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN RAISE EXCEPTION USING ERRCODE = ''disk_full''; END'`
    yield* sql`CREATE CONSTRAINT TRIGGER full_disk AFTER INSERT ON charges DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION fail()`
  })
  yield* sql.onDialectOrElse({ pg: () => onPostgres, orElse: () => onSqlite })
})

onEachStore((store) => {
  it.live("refuses every reservation that is not committed", () =>
    withLedger(
      store,
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const key = yield* addUser("u", { quota: 1_000 })
        yield* breakCommits
        // SQLite's last page has room for some charges.
        const calls = Array.from({ length: 100 }, () => Effect.exit(ledger.reserve(requestOf("u", key))))
        const ended = yield* Effect.all(calls, { concurrency: 32 })
        const reserved = ended.filter(Exit.isSuccess).length
        assert.isBelow(reserved, 100)
        assert.deepStrictEqual(yield* balances("u"), { user: 1_000 - reserved, key: 1_000 - reserved })
      })
    )
  )
})
