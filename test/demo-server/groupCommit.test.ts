/** Group commits: what shares a transaction, who waits for the disk, and what a failure undoes. */
import { assert, it, vi } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { join } from "node:path"
import { GroupCommit, makeGroupCommit } from "../../apps/demo-server/src/sql/GroupCommit.ts"
import * as NodeSqlite from "../../apps/demo-server/src/sql/NodeSqlite.ts"
import { query, runSync } from "../../apps/demo-server/src/sql/SqlStep.ts"
import { temporaryFolder } from "./TestServer.ts"

const insert = (id: number) =>
  function* () {
    yield* query("INSERT INTO things VALUES (?)", id)
    return id
  }

/** A violation that only the commit notices. */
const faulty = function* () {
  yield* query("INSERT INTO parts VALUES (1000)")
}

const things = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ id: number }>`SELECT id FROM things ORDER BY id`
  return rows.map(({ id }) => id)
})

const withTables = <A, E>(
  test: Effect.Effect<A, E, SqlClient.SqlClient | GroupCommit>,
  synchronous: NodeSqlite.Synchronous = "normal"
) =>
  Effect.gen(function* () {
    const tables = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE things (id INTEGER PRIMARY KEY)`
      yield* sql`CREATE TABLE parts (thing INTEGER REFERENCES things (id) DEFERRABLE INITIALLY DEFERRED)`
    })
    const file = join(yield* temporaryFolder, "groups.db")
    return yield* Effect.provide(Effect.andThen(tables, test), NodeSqlite.layer(file, synchronous))
  }).pipe(Effect.scoped)

it.live("a step that fails undoes no other step of its group", () =>
  withTables(
    Effect.gen(function* () {
      const { commit } = yield* GroupCommit
      const exits = yield* Effect.forEach(
        [commit(insert(1)), commit(faulty), commit(insert(1)), commit(insert(2))],
        Effect.exit,
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(exits.map(Exit.isSuccess), [true, false, false, true])
      assert.deepStrictEqual(yield* things, [1, 2])
    })
  )
)

it.live("a group waits for an open transaction, and is not part of it", () =>
  withTables(
    Effect.gen(function* () {
      const { commit } = yield* GroupCommit
      const sql = yield* SqlClient.SqlClient
      const group = yield* Effect.flip(
        sql.withTransaction(
          Effect.gen(function* () {
            yield* insertNow
            const group = yield* Effect.forkDetach(commit(insert(2)))
            yield* Effect.sleep("10 millis")
            assert.isUndefined(group.pollUnsafe())
            return yield* Effect.fail(group)
          })
        )
      )
      if (!Fiber.isFiber(group)) return assert.fail("the transaction failed")
      yield* Fiber.await(group)
      assert.deepStrictEqual(yield* things, [2])
    })
  )
)

const insertNow = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`INSERT INTO things VALUES (1)`)

it.live("a full disk fails the steps that are not stored, and no others", () =>
  withTables(
    Effect.gen(function* () {
      const { commit } = yield* GroupCommit
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT)`
      yield* sql`PRAGMA max_page_count = 20`
      const text = "x".repeat(2000)
      const stored: Array<number> = []
      for (let id = 0; id < 60; id++) {
        const exit = yield* Effect.exit(
          commit(function* () {
            yield* query("INSERT INTO texts VALUES (?, ?)", id, text)
          })
        )
        if (Exit.isSuccess(exit)) stored.push(id)
      }
      assert.isAbove(stored.length, 5)
      assert.isBelow(stored.length, 60)
      const rows = yield* sql<{ id: number }>`SELECT id FROM texts ORDER BY id`
      assert.deepStrictEqual(
        rows.map(({ id }) => id),
        stored
      )
      yield* sql`PRAGMA max_page_count = 1000`
      yield* commit(insert(1))
    })
  )
)

it.live("a durable step waits for the flush, and another does not", () =>
  Effect.gen(function* () {
    const flushed = yield* Deferred.make<void>()
    const { commit } = yield* makeGroupCommit({
      flush: Deferred.await(flushed),
      transact: (steps) => Effect.sync(() => steps.map((step) => runSync(step(), () => []))),
      read: () => Effect.die("not read"),
      isRemote: false
    })
    const durable = yield* Effect.forkChild(commit(faulty))
    yield* commit(faulty, { durable: false })
    // A later group is committed while the flush is under way.
    yield* commit(faulty, { durable: false })
    assert.isUndefined(durable.pollUnsafe())
    yield* Deferred.succeed(flushed, undefined)
    yield* Fiber.join(durable)
  }).pipe(Effect.scoped)
)

/** Counts the flushes of `run`. */
const flushes = <A, E, R>(run: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const spy = vi.spyOn(fs, "fdatasync")
    syncBuiltinESMExports()
    yield* run
    const { length } = spy.mock.calls
    spy.mockRestore()
    syncBuiltinESMExports()
    return length
  })

for (const [synchronous, expected] of [
  ["full", [1, 1, 1]],
  ["normal", [0, 0, 0]]
] as const) {
  it.live(
    `with ${synchronous} a statement, a transaction and a step wait for ${expected[0]} flush each`,
    () =>
      withTables(
        Effect.gen(function* () {
          const { commit } = yield* GroupCommit
          const sql = yield* SqlClient.SqlClient
          const counts = [
            yield* flushes(sql`INSERT INTO things VALUES (1)`),
            yield* flushes(
              sql.withTransaction(
                Effect.andThen(sql`INSERT INTO things VALUES (2)`, sql`DELETE FROM things WHERE id = 1`)
              )
            ),
            yield* flushes(commit(insert(3)))
          ]
          assert.deepStrictEqual(counts, [...expected])
          assert.strictEqual(yield* flushes(things), 0)
        }),
        synchronous
      )
  )
}
