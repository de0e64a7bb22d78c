/** Copies of an SQLite file that another process has locked and writes to. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { copySqlite } from "../../apps/demo-server/src/sql/CopySqlite.ts"
import { temporaryFolder } from "../demo-server/TestServer.ts"

const ACCOUNTS = 1000

/** Each commit moves one unit between accounts, each on a page of its own. The log starts over after 1,000 pages. */
const WRITER = `
const { DatabaseSync } = require("node:sqlite")
const database = new DatabaseSync(process.argv[1], { timeout: 0 })
database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
database.exec("PRAGMA wal_autocheckpoint = 1000; CREATE TABLE accounts (id INTEGER PRIMARY KEY, units INTEGER, filler TEXT)")
database.exec("BEGIN")
const fill = database.prepare("INSERT INTO accounts VALUES (?, 100, ?)")
for (let id = 0; id < ${ACCOUNTS}; id++) fill.run(id, "x".repeat(3000))
database.exec("COMMIT")
const add = database.prepare("UPDATE accounts SET units = units + ? WHERE id = ?")
console.log("ready")
for (let n = 0; ; n++) {
  database.exec("BEGIN IMMEDIATE")
  add.run(1, (n * 7919) % ${ACCOUNTS})
  add.run(-1, (n * 104729 + 13) % ${ACCOUNTS})
  database.exec("COMMIT")
}`

it.live("a copy of a locked file is its state after one commit", () =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const [file, copy] = [join(folder, "from.db"), join(folder, "to.db")]
    const writer = yield* Effect.acquireRelease(
      Effect.sync(() => spawn(process.execPath, ["-e", WRITER, file])),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    yield* Effect.promise(() => once(writer.stdout, "data"))
    const seen = new Set<unknown>()
    for (let n = 0; n < 40; n++) {
      yield* Effect.promise(() => copySqlite(file, copy))
      const database = new DatabaseSync(copy)
      const { sum, weight } =
        database.prepare("SELECT SUM(units) AS sum, AVG(units * id) AS weight FROM accounts").get() ?? {}
      database.close()
      assert.strictEqual(sum, 100 * ACCOUNTS)
      seen.add(weight)
      yield* Effect.promise(() => rm(copy))
    }
    assert.isAbove(seen.size, 1)
    assert.isNull(writer.exitCode)
  }).pipe(Effect.scoped)
)
