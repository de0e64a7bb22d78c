/** Whoever was answered has paid: what a process that was killed had only noted is settled by the next on its file. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { appendFileSync, copyFileSync, existsSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { Ledger } from "../../apps/demo-server/src/billing/Ledger.ts"
import { outOfBalance } from "./Equation.ts"
import { addUser, balances, ledgerIn, purchase } from "./LedgerIn.ts"
import { temporaryFolder } from "./TestServer.ts"

const used = (cost: number) => ({ cost, inputTokens: 3, outputTokens: 0 })

const NOTED = "accounts.db-noted"

/** The files as they are now: what the operating system has of them when the process is killed. */
const asKilled = (from: string, to: string) => {
  for (const name of ["accounts.db", "accounts.db-wal", NOTED]) copyFileSync(join(from, name), join(to, name))
}

const reserved = Effect.fnUntraced(function* (key: number, units: number) {
  const { reserve } = yield* Ledger
  const reservation = yield* reserve(purchase("a", key, { units }))
  return reservation._tag === "Reserved" ? reservation.charge : yield* Effect.die(reservation._tag)
})

const settled = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{
    state: string
    cost: number
  }>`SELECT state, cost FROM charges ORDER BY created_at, id`
  assert.deepStrictEqual(yield* outOfBalance, [])
  return rows.map(({ cost, state }) => `${state} ${cost}`).toSorted()
})

it.live("settlements that were not committed when the server was killed are settled once", () =>
  Effect.gen(function* () {
    const [data, left] = [yield* temporaryFolder, yield* temporaryFolder]
    yield* Effect.gen(function* () {
      const ledger = yield* Ledger
      const key = yield* addUser("a", { quota: 100 })
      const known = yield* reserved(key, 10)
      // A statement of others commits the reserve.
      yield* balances("a")
      yield* ledger.settleKept(known, used(12))
      yield* ledger.settleKept(yield* reserved(key, 10), used(4))
      asKilled(data, left)
      assert.strictEqual(statSync(join(data, NOTED)).mode & 0o777, 0o600)
      assert.deepStrictEqual(yield* settled, ["settled 12", "settled 4"])
      // They are committed by now.
      assert.strictEqual(readFileSync(join(data, NOTED), "utf8"), "")
    }).pipe(Effect.provide(ledgerIn(data, {})))
    assert.isFalse(existsSync(join(data, NOTED)))

    // What a loss of power leaves of lines, and one that belongs to another database.
    appendFileSync(join(left, NOTED), `${"\0".repeat(20)}\n`)
    const [line = ""] = readFileSync(join(left, NOTED), "utf8").split("\n")
    appendFileSync(
      join(left, NOTED),
      `${line.replace('"user":"a"', '"user":"nobody"')}\n{"id":"x","user":"a"`
    )
    const noted = readFileSync(join(left, NOTED))
    for (const _ of ["once", "and again"]) {
      yield* Effect.gen(function* () {
        assert.deepStrictEqual(yield* settled, ["settled 12", "settled 4"])
        assert.deepStrictEqual(yield* balances("a"), { user: 84, key: 84 })
        assert.isFalse(existsSync(join(left, NOTED)))
      }).pipe(Effect.provide(ledgerIn(left, {})))
      appendFileSync(join(left, NOTED), noted)
    }
  }).pipe(Effect.scoped)
)

it.live("a settlement costs what it says though its reserve was lost, once", () =>
  Effect.gen(function* () {
    const ledger = yield* Ledger
    const key = yield* addUser("a", { quota: 100 })
    const charge = { ...(yield* reserved(key, 10)), id: "lost with a commit that failed" }
    assert.isTrue(yield* ledger.settle(charge, used(6)))
    assert.isFalse(yield* ledger.settle(charge, used(6)))
    assert.isFalse(yield* ledger.settleKept(charge, used(6)))
    assert.deepStrictEqual(yield* settled, ["reserved 0", "settled 6"])
    assert.deepStrictEqual(yield* balances("a"), { user: 84, key: 84 })
  }).pipe(
    Effect.provide(Layer.unwrap(Effect.map(temporaryFolder, (data) => ledgerIn(data, {})))),
    Effect.scoped
  )
)
