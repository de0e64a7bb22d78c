/** A damaged accounts.db: the start, a running server, and `sluice doctor`. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import { SqlClient } from "effect/sql"
import { readFile, writeFile } from "node:fs/promises"
import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import { sluice } from "../../apps/demo-server/src/cli/Sluice.ts"
import * as NodeSqlite from "../../apps/demo-server/src/sql/NodeSqlite.ts"
import { isDamage } from "../../apps/demo-server/src/sql/NodeSqlite.ts"
import { catchSqlError } from "../../apps/demo-server/src/sql/StoreFailure.ts"
import { failedStart, startServer, temporaryFolder } from "./TestServer.ts"

const PAGE = 4096

/** A data folder with accounts whose server has stopped. */
const stopped = Effect.gen(function* () {
  const data = yield* temporaryFolder
  yield* Effect.scoped(startServer({ data }))
  return { data, file: join(data, "accounts.db") }
})

/** Overwrites the page where a table begins. */
const damage = (file: string, table: string) =>
  Effect.promise(async () => {
    const database = new DatabaseSync(file)
    const row = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(table)
    database.close()
    const page = Number(row?.["rootpage"])
    const bytes = await readFile(file)
    await writeFile(file, bytes.fill(0x5a, (page - 1) * PAGE, page * PAGE))
  })

const doctor = (data: string) =>
  Effect.gen(function* () {
    const printed: Array<string> = []
    const before = process.exitCode
    const exit = yield* Command.runWith(sluice, { version: "0" })(["doctor", "--data", data]).pipe(
      Effect.provideService(Console.Console, {
        ...globalThis.console,
        log: (...parts: ReadonlyArray<unknown>) => void printed.push(parts.join(" "))
      }),
      Effect.provide(NodeServices.layer),
      Effect.exit
    )
    const code = process.exitCode
    process.exitCode = before
    return { code, text: printed.join("\n"), failed: String(exit) }
  })

describe("the accounts' file", () => {
  it.live("stops the start if it is damaged, which says to restore it", () =>
    Effect.gen(function* () {
      for (const table of ["charges", "users", "audit"]) {
        const { data, file } = yield* stopped
        yield* damage(file, table)
        const { code, printed } = yield* failedStart(data)
        assert.strictEqual(code, 1, table)
        assert.match(printed, /Restore accounts\.db from a copy/, table)
        assert.match((yield* doctor(data)).failed, /Restore accounts\.db/, table)
      }
    }).pipe(Effect.scoped)
  )

  it.live("is not used any more once it is found damaged", () =>
    Effect.gen(function* () {
      const { file } = yield* stopped
      yield* damage(file, "audit")
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`SELECT id FROM users`
        for (const query of [sql`SELECT * FROM audit`, sql`SELECT 1`, sql`UPDATE users SET quota = 0`]) {
          assert.isTrue(isDamage(yield* Effect.flip(query)))
        }
        const failure = yield* Effect.flip(catchSqlError(Effect.asVoid(sql`SELECT 1`)))
        assert.strictEqual(failure.status, 503)
      }).pipe(Effect.provide(NodeSqlite.layer(file)))
    }).pipe(Effect.scoped)
  )

  it.live("is checked by the doctor and at the start: every balance adds up", () =>
    Effect.gen(function* () {
      const { data, file } = yield* stopped
      const well = yield* doctor(data)
      assert.include(well.text, "every balance adds up")
      const database = new DatabaseSync(file)
      database.exec("UPDATE users SET quota = quota - 7")
      database.close()
      const ill = yield* doctor(data)
      assert.include(ill.text, "user owner differs by 7 units")
      assert.strictEqual(ill.code, 1)
      const server = yield* startServer({ data })
      assert.include(server.printed.join("\n"), "user owner differs by 7 units")
    }).pipe(Effect.scoped)
  )
})
