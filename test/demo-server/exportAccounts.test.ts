/** PostgreSQL's accounts as a file of SQLite, while charges are settled. */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { join } from "node:path"
import { accountFaults } from "../../apps/demo-server/src/database/AccountFaults.ts"
import { exportAccounts } from "../../apps/demo-server/src/database/CopyAccounts.ts"
import { migrate } from "../../apps/demo-server/src/database/Migrations.ts"
import * as NodeSqlite from "../../apps/demo-server/src/sql/NodeSqlite.ts"
import * as Postgres from "../../apps/demo-server/src/sql/Postgres.ts"
import { onPostgres } from "./Stores.ts"
import { temporaryFolder } from "./TestServer.ts"

const EXPORTS = 5
const GRANTED = 1_000_000_000

const opened = <E, R>(layer: Layer.Layer<SqlClient.SqlClient, E, R>) =>
  Effect.tap(Effect.map(Layer.build(layer), Context.get(SqlClient.SqlClient)), (sql) =>
    Effect.provideService(migrate, SqlClient.SqlClient, sql)
  )

onPostgres((_, store) => {
  it.live(
    "an export is of one moment: each balance adds up, and ids of removed keys are not used again",
    () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        const sql = yield* opened(Postgres.layer(Redacted.make((yield* store)["SLUICE_DATABASE_URL"] ?? "")))
        const owner = { id: "owner", username: "owner", role: "admin", created_at: 0 }
        yield* sql`INSERT INTO users ${sql.insert({ ...owner, quota: GRANTED, granted: GRANTED })}`
        const key = {
          user_id: "owner",
          name: "",
          shown: "",
          status: 1,
          remain_quota: 0,
          subnet: "",
          created_at: 0
        }
        for (const hash of ["1", "2", "3"]) yield* sql`INSERT INTO tokens ${sql.insert({ ...key, hash })}`
        yield* sql`DELETE FROM tokens WHERE id > 1`
        let settled = 0
        const settle = Effect.suspend(() => {
          const id = `charge-${settled++}`
          const charge = {
            id,
            user_id: "owner",
            operation: "",
            model: "",
            state: "settled",
            reserved: 1,
            cost: 1
          }
          const times = { lease_until: 0, created_at: 0 }
          return sql.withTransaction(
            Effect.andThen(
              sql`UPDATE users SET quota = quota - 1 WHERE id = 'owner'`,
              sql`INSERT INTO charges ${sql.insert({ ...charge, ...times })}`
            )
          )
        })
        const exporting = Effect.forEach(Array.from({ length: EXPORTS }).keys(), (n) =>
          Effect.gen(function* () {
            const file = yield* opened(NodeSqlite.layer(join(folder, `${n}.db`)))
            // On a busy machine five exports may end before the second charge.
            yield* Effect.repeat(Effect.sleep("1 millis"), { until: () => settled > n + 1 })
            const before = settled
            const counts = yield* exportAccounts(sql, file)
            assert.isAtLeast(counts["charges"] ?? 0, before - 1)
            const found = yield* Effect.provideService(accountFaults, SqlClient.SqlClient, file)
            assert.deepStrictEqual(found, { file: [], ledger: [] })
            yield* file`INSERT INTO tokens ${file.insert({ ...key, hash: "4" })}`
            assert.deepStrictEqual(yield* file`SELECT id FROM tokens ORDER BY id`, [{ id: 1 }, { id: 4 }])
          }).pipe(Effect.scoped)
        )
        yield* Effect.raceFirst(exporting, Effect.forever(settle))
        assert.isAbove(settled, EXPORTS)
      }).pipe(Effect.scoped)
  )
})
