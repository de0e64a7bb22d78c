/** What upstreams, and disks, do to the lane that no usual one does. */
import { assert, it } from "@effect/vitest"
import { Effect, Exit, type Scope } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { makeTurns } from "../../apps/demo-server/src/sql/GroupCommit.ts"
import { ask } from "../../apps/demo-server/src/sql/SqlStep.ts"
import { makeDirect } from "../../apps/demo-server/src/sql/DirectSql.ts"
import * as NodeSqlite from "../../apps/demo-server/src/sql/NodeSqlite.ts"
import { makeNotes, notesOf } from "../../apps/demo-server/src/sql/Notes.ts"
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

/** Turns over two tables of which only a commit notices that they do not fit. */
const turnsIn = Effect.fnUntraced(function* () {
  const sql = yield* SqlClient.SqlClient
  const turns = yield* makeTurns(function* (lines) {
    for (const line of lines) yield* ask("INSERT INTO things VALUES (?)", Number(line))
  })
  yield* sql`CREATE TABLE things (id INTEGER PRIMARY KEY)`
  yield* sql`CREATE TABLE parts (thing INTEGER REFERENCES things (id) DEFERRABLE INITIALLY DEFERRED)`
  const add = (id: number) =>
    function* () {
      yield* ask("INSERT INTO things VALUES (?)", id)
    }
  const settle = (id: number) => turns.kept(add(id), () => String(id))
  const reserve = (id: number) => turns.now(add(id))
  const fault = turns.seen(function* () {
    yield* ask("INSERT INTO parts VALUES (1000)")
  })
  const things = Effect.map(sql<{ id: number }>`SELECT id FROM things`, (rows) => rows.map(({ id }) => id))
  return { fault, reserve, settle, things }
})

const inFile = <A, E>(file: string, test: Effect.Effect<A, E, SqlClient.SqlClient | Scope.Scope>) =>
  Effect.scoped(Effect.provide(test, NodeSqlite.layer(file)))

it.live(
  "a settlement that cannot be noted is told when it is committed, and failed where that commit fails",
  () =>
    Effect.gen(function* () {
      const file = join(yield* temporaryFolder, "turns.db")
      // A file that cannot be opened.
      mkdirSync(`${file}-noted`)
      const test = Effect.gen(function* () {
        const { fault, settle, things } = yield* turnsIn()
        yield* fault
        assert.isTrue(Exit.isFailure(yield* Effect.exit(settle(1))))
        assert.deepStrictEqual(yield* things, [])
        assert.isTrue(Exit.isSuccess(yield* Effect.exit(settle(1))))
        assert.deepStrictEqual(yield* things, [1])
      })
      yield* inFile(file, test)
    }).pipe(Effect.scoped)
)

it.live("what is committed together is told together, though one of its callers goes on at once", () =>
  Effect.gen(function* () {
    const file = join(yield* temporaryFolder, "turns.db")
    mkdirSync(`${file}-noted`)
    const test = Effect.gen(function* () {
      const { fault, reserve, settle, things } = yield* turnsIn()
      const stubborn = Effect.retry(settle(1), { times: 1 })
      for (const together of [
        [fault, stubborn, reserve(2), settle(3)],
        [fault, reserve(4), settle(5), reserve(6)]
      ]) {
        const before = yield* things
        const [, ...exits] = yield* Effect.forEach(together, Effect.exit, { concurrency: "unbounded" })
        const told = exits.filter(Exit.isSuccess).length
        assert.strictEqual((yield* things).length - before.length, told)
        assert.isTrue(exits.slice(1).every(Exit.isFailure))
      }
    })
    yield* inFile(file, test)
  }).pipe(Effect.scoped)
)

it.live(
  "settlements whose commit fails are made again with the next change, and noted until they are committed",
  () =>
    Effect.gen(function* () {
      const file = join(yield* temporaryFolder, "turns.db")
      const test = Effect.gen(function* () {
        const { fault, settle, things } = yield* turnsIn()
        yield* settle(1)
        yield* settle(2)
        assert.deepStrictEqual(notesOf(file), ["1", "2", ""])
        yield* fault
        assert.deepStrictEqual(yield* things, [])
        assert.deepStrictEqual(notesOf(file), ["1", "2", ""])
        yield* settle(3)
        assert.deepStrictEqual(yield* things, [1, 2, 3])
        assert.deepStrictEqual(notesOf(file), [""])
      })
      yield* inFile(file, test)
      assert.deepStrictEqual(notesOf(file), [])
    }).pipe(Effect.scoped)
)

it.effect("a log that cannot be opened is told to who waits for the disk, and holds nobody up", () =>
  Effect.gen(function* () {
    const file = join(yield* temporaryFolder, "accounts.db")
    const database = new DatabaseSync(file)
    const direct = makeDirect({
      database,
      log: `${file}-wal`,
      notes: makeNotes(file),
      waitsForDisk: true,
      answer: ({ text }) => database.prepare(text).all(),
      errorOf: (cause) =>
        new SqlError.SqlError({ reason: SqlError.classifySqliteError(cause, { operation: "execute" }) }),
      whenFree: (then) => then()
    })
    const onDisk = Effect.callback<boolean>((resume) =>
      direct.synced((error) => resume(Effect.succeed(error === undefined)))
    )
    // No log is there before the database is in the mode that has one.
    assert.isFalse(yield* onDisk)
    database.exec("PRAGMA journal_mode = WAL; CREATE TABLE rows (id)")
    assert.isTrue(yield* onDisk)
    direct.close()
    database.close()
  }).pipe(Effect.scoped)
)
