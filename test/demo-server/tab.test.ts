/** What is held in memory decides as the database would: the same calls both ways, and the same accounts after them. */
import { assert, it } from "@effect/vitest"
import { Effect, type Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { copyFileSync, existsSync } from "node:fs"
import { join } from "node:path"
import { ApiKeys } from "../../apps/demo-server/src/accounts/ApiKeys.ts"
import {
  type Charge,
  type DirectLedger,
  Ledger,
  type Purchase,
  type Reservation
} from "../../apps/demo-server/src/billing/Ledger.ts"
import { outOfBalance } from "./Equation.ts"
import { addUser, balances, ledgerIn, purchase } from "./LedgerIn.ts"
import { temporaryFolder } from "./TestServer.ts"

const directly = Effect.map(Ledger, ({ direct }) => direct ?? assert.fail("no way past the client"))

const heard = <A>(ask: (hear: (exit: Exit.Exit<A, unknown>) => void) => void) =>
  Effect.callback<A, unknown>((resume) => ask((exit) => resume(exit)))

const settle = (direct: DirectLedger, charge: Charge, cost: number) =>
  heard<boolean>((hear) => direct.settle(charge, { cost, inputTokens: 3, outputTokens: 1 }, hear))

/** As the lane does it; whether the database was asked. */
const reserve = Effect.fnUntraced(function* (direct: DirectLedger, of: Purchase, now: number) {
  const covered = direct.reserve(of, now)
  if (covered !== undefined) return { reservation: covered as Reservation, asked: false }
  const reservation = yield* heard<Reservation | undefined>((hear) =>
    direct.enter(
      // oxlint-disable-next-line require-yield
      function* () {
        return of
      },
      now,
      hear
    )
  )
  return { reservation: reservation ?? assert.fail("nobody bought"), asked: true }
})

const open = (reservation: Reservation): Charge =>
  reservation._tag === "Reserved" ? reservation.charge : assert.fail(reservation._tag)

/** Numbers that look drawn, the same each time. */
const drawing = (seed: number) => () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}

const START = 1_800_000_000_000
const LIMITS = { requestsPerMinute: 40, tokensPerMinute: 4000 }

/** What a call is told. */
const told = (reservation: Reservation) =>
  reservation._tag === "Reserved"
    ? { tag: reservation._tag, rate: reservation.rate, reserved: reservation.charge.reserved }
    : reservation

const accounts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  assert.deepStrictEqual(yield* outOfBalance, [])
  return {
    users: yield* sql`SELECT id, quota, granted FROM users ORDER BY id`,
    keys: yield* sql`SELECT id, remain_quota FROM tokens ORDER BY id`,
    windows: yield* sql`SELECT * FROM rate_windows ORDER BY token_id`,
    charges:
      yield* sql`SELECT user_id, token_id, state, reserved, cost, uncollected, input_tokens, output_tokens,
      lease_until, created_at FROM charges ORDER BY created_at, user_id, reserved, state, cost`
  }
})

const USERS = ["a", "b"]

/** The same calls of two users, by whichever way `way` takes them. */
const calls = Effect.fnUntraced(function* (
  seed: number,
  way: (now: number) => {
    readonly reserve: (of: Purchase) => Effect.Effect<Reservation, unknown>
    readonly settle: (charge: Charge, cost: number) => Effect.Effect<unknown, unknown>
  }
) {
  const draw = drawing(seed)
  const ledger = yield* Ledger
  const sql = yield* SqlClient.SqlClient
  const keyring = yield* ApiKeys
  const keys = new Map<string, number>()
  for (const user of USERS) keys.set(user, yield* addUser(user, { quota: 1200, remaining: 1400 }))
  const under: Array<Charge> = []
  const said: Array<unknown> = []
  for (let step = 0; step < 400; step++) {
    const now = START + step * 397
    yield* TestClock.setTime(now)
    const user = USERS[Math.floor(draw() * 2)] ?? ""
    const what = draw()
    const [units, at] = [Math.floor(draw() * 60), Math.floor(draw() * under.length)]
    if (what < 0.55) {
      const reservation = yield* way(now).reserve(
        purchase(user, keys.get(user) ?? 0, { units, tokens: units * 2, limits: LIMITS })
      )
      said.push(told(reservation))
      if (reservation._tag === "Reserved") under.push(reservation.charge)
    } else if (what < 0.95) {
      const [charge] = under.splice(at, 1)
      // Some cost more than was reserved.
      if (charge !== undefined) yield* way(now).settle(charge, Math.floor(charge.reserved * draw() * 1.1))
    } else if (what < 0.97) {
      const [charge] = under.splice(at, 1)
      if (charge !== undefined) said.push(yield* ledger.refund(charge))
    } else if (what < 0.985) {
      yield* sql`UPDATE users SET quota = quota + ${units}, granted = granted + ${units} WHERE id = ${user}`
    } else if (what < 0.992) {
      yield* keyring.update(user, keys.get(user) ?? 0, { remain_quota: units * 10 })
    } else said.push(yield* accounts)
  }
  return { said, ended: yield* accounts }
})

const inFolder = <A, E>(test: Effect.Effect<A, E, ApiKeys | Ledger | SqlClient.SqlClient>) =>
  Effect.flatMap(temporaryFolder, (data) =>
    Effect.provide(test, Layer.provideMerge(ApiKeys.layer, ledgerIn(data, {})))
  )

for (const seed of [1, 2, 3]) {
  it.effect(`as if each call asked the database (${seed})`, () =>
    Effect.gen(function* () {
      const asked = { yes: 0, no: 0 }
      const quick = yield* inFolder(
        Effect.flatMap(directly, (direct) =>
          calls(seed, (now) => ({
            reserve: (of) =>
              Effect.map(reserve(direct, of, now), ({ asked: was, reservation }) => {
                asked[was ? "yes" : "no"]++
                return reservation
              }),
            settle: (charge, cost) => settle(direct, charge, cost)
          }))
        )
      )
      const slow = yield* inFolder(
        Effect.flatMap(Ledger, (ledger) =>
          calls(seed, () => ({
            reserve: ledger.reserve,
            settle: (charge, cost) => ledger.settle(charge, { cost, inputTokens: 3, outputTokens: 1 })
          }))
        )
      )
      assert.deepStrictEqual(quick, slow)
      const refused = quick.said.filter((one) => JSON.stringify(one).match(/"(Short|Limited)"/))
      assert.isAbove(refused.length, 5)
      assert.isAbove(asked.no, asked.yes / 2)
    }).pipe(Effect.scoped)
  )
}

it.live("a balance for 50 lets 50 of 200 pass, and statements of others are heard of at once", () =>
  inFolder(
    Effect.gen(function* () {
      const direct = yield* directly
      const sql = yield* SqlClient.SqlClient
      const key = yield* addUser("a", { quota: 50 })
      const all = yield* Effect.all(
        Array.from({ length: 200 }, () => reserve(direct, purchase("a", key), START)),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(
        all.filter(({ reservation }) => reservation._tag === "Reserved"),
        50
      )
      assert.deepStrictEqual(yield* balances("a"), { user: 0, key: 0 })
      yield* sql`UPDATE users SET quota = 2, granted = 52`
      yield* sql`UPDATE tokens SET remain_quota = 100`
      const more = yield* Effect.all(
        Array.from({ length: 5 }, () => reserve(direct, purchase("a", key), START))
      )
      assert.deepStrictEqual(
        more.map(({ reservation }) => reservation._tag),
        ["Reserved", "Reserved", "Short", "Short", "Short"]
      )
      assert.deepStrictEqual(
        more.map(({ asked }) => asked),
        [true, false, true, true, true]
      )
      // A key that was emptied while another transaction was open.
      yield* sql`UPDATE users SET quota = 100, granted = 152`
      yield* reserve(direct, purchase("a", key), START)
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`UPDATE tokens SET remain_quota = 0`
          assert.isUndefined(direct.reserve(purchase("a", key), START))
        })
      )
      const { reservation } = yield* reserve(direct, purchase("a", key), START)
      assert.deepStrictEqual(reservation, { _tag: "Short", of: "key" })
      assert.deepStrictEqual(yield* outOfBalance, [])
    })
  ).pipe(Effect.scoped)
)

const FILES = ["accounts.db", "accounts.db-wal", "accounts.db-noted"]

it.live(
  "whoever was told of a settlement has paid when the process is killed, and the rest is given back",
  () =>
    Effect.gen(function* () {
      const [data, left] = [yield* temporaryFolder, yield* temporaryFolder]
      yield* Effect.gen(function* () {
        const direct = yield* directly
        const key = yield* addUser("a", { quota: 100 })
        yield* reserve(direct, purchase("a", key, { units: 5 }), START)
        yield* balances("a")
        yield* reserve(direct, purchase("a", key, { units: 5 }), START)
        const { asked, reservation } = yield* reserve(direct, purchase("a", key, { units: 20 }), START)
        assert.isFalse(asked)
        let files = 0
        direct.settle(open(reservation), { cost: 8, inputTokens: 1, outputTokens: 1 }, () => {
          // As the operating system has them when the process is killed now.
          for (const name of FILES) {
            if (!existsSync(join(data, name))) continue
            copyFileSync(join(data, name), join(left, name))
            files++
          }
        })
        assert.strictEqual(files, FILES.length)
        assert.deepStrictEqual(yield* balances("a"), { user: 82, key: 82 })
      }).pipe(Effect.provide(ledgerIn(data, {})))
      yield* Effect.gen(function* () {
        // The reserve that was committed is open: `Recovery` gives it back, as any of a server that ended.
        assert.deepStrictEqual(yield* balances("a"), { user: 87, key: 87 })
        assert.deepStrictEqual(yield* outOfBalance, [])
      }).pipe(Effect.provide(ledgerIn(left, {})))
    }).pipe(Effect.scoped)
)

it.live("a reserve that was lost with its commit is given back by nobody", () =>
  inFolder(
    Effect.gen(function* () {
      const direct = yield* directly
      const sql = yield* SqlClient.SqlClient
      const key = yield* addUser("a", { quota: 100 })
      const lost = open((yield* reserve(direct, purchase("a", key, { units: 50 }), START)).reservation)
      // As a commit that failed leaves it.
      yield* sql`DELETE FROM charges`
      yield* sql`UPDATE users SET quota = 100`
      yield* sql`UPDATE tokens SET remain_quota = 100`
      yield* reserve(direct, purchase("a", key), START)
      yield* settle(direct, lost, 3)
      // What is held is written with any step, and what is known stays known.
      yield* reserve(direct, purchase("b", key), START)
      const { reservation } = yield* reserve(direct, purchase("a", key, { units: 97 }), START)
      assert.deepStrictEqual(reservation, { _tag: "Short", of: "user" })
      assert.deepStrictEqual(yield* balances("a"), { user: 96, key: 96 })
      assert.deepStrictEqual(yield* outOfBalance, [])
    })
  ).pipe(Effect.scoped)
)

it.live(
  "where the file is full, whoever was told has paid as soon as there is room, and the ledger adds up",
  () =>
    inFolder(
      Effect.gen(function* () {
        const direct = yield* directly
        const sql = yield* SqlClient.SqlClient
        const key = yield* addUser("a", { quota: 1_000_000 })
        const [{ page_count = 0 } = {}] = yield* sql<{ page_count: number }>`PRAGMA page_count`
        yield* sql.unsafe(`PRAGMA max_page_count = ${page_count + 2}`)
        let paid = 0
        let failed = 0
        for (let call = 0; call < 200; call++) {
          const done = Effect.gen(function* () {
            const { reservation } = yield* reserve(direct, purchase("a", key, { units: 9 }), START)
            yield* settle(direct, open(reservation), 7)
            paid += 7
          })
          yield* Effect.match(done, { onFailure: () => failed++, onSuccess: () => undefined })
        }
        assert.isAbove(failed, 10)
        assert.isAbove(paid, 100)
        yield* sql`PRAGMA max_page_count = 100000`
        const { reservation } = yield* reserve(direct, purchase("a", key, { units: 9 }), START)
        yield* settle(direct, open(reservation), 7)
        const [{ settled = 0 } = {}] = yield* sql<{
          settled: number
        }>`SELECT SUM(cost) AS settled FROM charges`
        assert.strictEqual(settled, paid + 7)
        assert.deepStrictEqual(yield* outOfBalance, [])
      })
    ).pipe(Effect.scoped)
)
