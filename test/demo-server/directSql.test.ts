/** Transactions without Effect's client: seen at once, all or nothing, and nothing given away where they cannot be kept. */
import { assert, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { join } from "node:path"
import { directOf, layer } from "../../apps/demo-server/src/sql/NodeSqlite.ts"
import { temporaryFolder } from "./TestServer.ts"

const insert = (n: number, text = "") => ({
  text: "INSERT INTO t (n, text) VALUES (?, ?)",
  values: [n, text]
})

const opened = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE t (n BIGINT PRIMARY KEY, text TEXT)`
  const direct = directOf(sql)
  if (direct === undefined) return yield* Effect.die("no way past the client")
  const change = (...numbers: ReadonlyArray<number>) => {
    let ended: Result.Result<unknown, unknown> | undefined
    direct.change(
      (answer) => numbers.map((n) => answer(insert(n, "x".repeat(2000)))),
      (result) => (ended = result)
    )
    return ended && Result.isSuccess(ended)
  }
  const there = Effect.map(sql<{ n: number }>`SELECT n FROM t ORDER BY n`, (rows) => rows.map(({ n }) => n))
  return { sql, direct, change, there }
})

const inFile = <A, E>(test: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.flatMap(temporaryFolder, (folder) => Effect.provide(test, layer(join(folder, "t.db")))).pipe(
    Effect.scoped
  )

it.live("what fails is undone alone, and what others do is not mixed with it", () =>
  inFile(
    Effect.gen(function* () {
      const { change, direct, sql, there } = yield* opened
      assert.isTrue(change(1, 2))
      assert.isFalse(change(3, 2))
      assert.isTrue(change(4))
      assert.deepStrictEqual(yield* there, [1, 2, 4])
      let late: boolean | undefined
      const failing = sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`INSERT INTO t (n) VALUES (10)`
          direct.change(
            (answer) => answer(insert(5)),
            (result) => (late = Result.isSuccess(result))
          )
          assert.isUndefined(late)
          return yield* Effect.fail("undone")
        })
      )
      yield* Effect.flip(failing)
      yield* Effect.repeat(Effect.yieldNow, { until: () => late !== undefined, times: 100 })
      assert.isTrue(late)
      assert.deepStrictEqual(yield* there, [1, 2, 4, 5])
    })
  )
)

it.live("where the file is full, nobody is told of what is not kept, and it goes on when there is room", () =>
  inFile(
    Effect.gen(function* () {
      const { change, direct, sql, there } = yield* opened
      yield* sql`PRAGMA max_page_count = 20`
      const kept: Array<number> = []
      for (let n = 0; n < 100; n++) {
        if (change(n)) kept.push(n)
        direct.commit()
      }
      assert.isAbove(kept.length, 5)
      assert.isBelow(kept.length, 100)
      assert.deepStrictEqual(yield* there, kept)
      yield* sql`PRAGMA max_page_count = 1000`
      assert.isTrue(change(1000))
      assert.deepStrictEqual(yield* there, [...kept, 1000])
    })
  )
)
