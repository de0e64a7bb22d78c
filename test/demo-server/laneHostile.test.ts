/** What upstreams, and disks, do to the lane that no usual one does. */
import { assert, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { makeTurns } from "../../apps/demo-server/src/money/Turns.ts"
import { ask } from "../../apps/demo-server/src/sql/Asking.ts"
import { makeDirect } from "../../apps/demo-server/src/sql/DirectSql.ts"
import * as NodeSqlite from "../../apps/demo-server/src/sql/NodeSqlite.ts"
import { sendRaw } from "./Raw.ts"
import { before } from "./PaidServer.ts"
import { temporaryFolder } from "./TestServer.ts"

const chat = JSON.stringify({ model: "c", messages: [{ role: "user", content: "one two three" }] })
const answer = JSON.stringify({ choices: [{ index: 0, message: { role: "assistant", content: "four" } }] })

const head = (key: string, more: string) =>
  `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n` +
  `authorization: Bearer ${key}\r\ncontent-length: ${chat.length}\r\n${more}\r\n`

it.live("an upstream that says twice what it sends is passed on as one header", () =>
  Effect.gen(function* () {
    const { server } = yield* before((response) =>
      response.writeHead(200, ["content-type", "application/json", "content-type", "text/html"]).end(answer)
    )
    // The second asks for nothing that the first does not, and takes the other way.
    for (const more of ["", "content-encoding: identity\r\n"]) {
      const { headers, status } = yield* sendRaw(server.url, head(server.secrets.apiKey, more) + chat)
      assert.strictEqual(status, 200)
      // Of two headers the last one would be here.
      assert.strictEqual(headers["content-type"], "application/json, text/html")
    }
  }).pipe(Effect.scoped)
)

it.live("a settlement is told to be done when it is committed, and failed where that commit fails", () =>
  Effect.gen(function* () {
    const file = join(yield* temporaryFolder, "turns.db")
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const turns = yield* makeTurns
      yield* sql`CREATE TABLE things (id INTEGER PRIMARY KEY)`
      yield* sql`CREATE TABLE parts (thing INTEGER REFERENCES things (id) DEFERRABLE INITIALLY DEFERRED)`
      const settle = turns.kept(function* () {
        yield* ask("INSERT INTO things VALUES (1)")
      })
      // Only the commit notices that there is no such thing.
      const fault = turns.seen(function* () {
        yield* ask("INSERT INTO parts VALUES (2)")
      })
      const [settled] = yield* Effect.all([Effect.exit(settle), fault], { concurrency: "unbounded" })
      const rows = yield* sql`SELECT id FROM things`
      assert.deepStrictEqual({ told: Exit.isSuccess(settled), rows: rows.length }, { told: false, rows: 0 })
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(settle)))
      assert.lengthOf(yield* sql`SELECT id FROM things`, 1)
    }).pipe(Effect.provide(NodeSqlite.layer(file)))
  }).pipe(Effect.scoped)
)

it.effect("a log that cannot be opened is told to who waits for the disk, and holds nobody up", () =>
  Effect.gen(function* () {
    const file = join(yield* temporaryFolder, "accounts.db")
    const database = new DatabaseSync(file)
    const direct = makeDirect({
      database,
      log: `${file}-wal`,
      waitsForDisk: true,
      answer: ({ text }) => database.prepare(text).all(),
      errorOf: (cause) =>
        new SqlError.SqlError({ reason: SqlError.classifySqliteError(cause, { operation: "execute" }) }),
      whenFree: (then) => then()
    })
    const onDisk = Effect.callback<boolean>((resume) =>
      direct.onDisk((error) => resume(Effect.succeed(error === undefined)))
    )
    // No log is there before the database is in the mode that has one.
    assert.isFalse(yield* onDisk)
    database.exec("PRAGMA journal_mode = WAL; CREATE TABLE rows (id)")
    assert.isTrue(yield* onDisk)
    direct.close()
    database.close()
  }).pipe(Effect.scoped)
)
