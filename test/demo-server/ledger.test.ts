/** The ledger under parallel calls, on SQLite and PostgreSQL. */
import { assert, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import { ApiKeys } from "../../apps/demo-server/src/accounts/ApiKeys.ts"
import { ServerConfig } from "../../apps/demo-server/src/config/ServerConfig.ts"
import type { GroupCommit } from "../../apps/demo-server/src/sql/GroupCommit.ts"
import { LEASE_MS } from "../../apps/demo-server/src/billing/Lease.ts"
import { type Charge, Ledger, type Reservation } from "../../apps/demo-server/src/billing/Ledger.ts"
import { Retention } from "../../apps/demo-server/src/billing/Retention.ts"
import { outOfBalance, sums } from "./Equation.ts"
import { addUser, balances, ledgerIn, requestOf } from "./LedgerIn.ts"
import { onEachStore, onPostgres } from "./Stores.ts"
import { temporaryFolder } from "./TestServer.ts"

const charged = (reservation: Reservation): Charge => {
  if (reservation._tag !== "Reserved") throw new Error(`${reservation._tag} instead of a reserve`)
  return reservation.charge
}

const tagsOf = (reservations: ReadonlyArray<Reservation>) => reservations.map(({ _tag }) => _tag)

const addsUp = Effect.gen(function* () {
  assert.isNotEmpty(yield* sums)
  assert.deepStrictEqual(yield* outOfBalance, [])
})

const retention = Retention.layer.pipe(
  Layer.provide(ServerConfig.layer),
  Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({})))
)

const used = (cost: number) => ({ cost, inputTokens: 3, outputTokens: 0 })

onEachStore((store) => {
  const withLedger = <A, E>(test: Effect.Effect<A, E, GroupCommit | Ledger | SqlClient.SqlClient>) =>
    Effect.gen(function* () {
      const data = yield* temporaryFolder
      yield* Effect.provide(Effect.tap(test, addsUp), ledgerIn(data, yield* store))
    }).pipe(Effect.scoped)

  for (const { of, quota, remaining } of [
    { of: "user", quota: 50, remaining: 1000 },
    { of: "key", quota: 1000, remaining: 50 }
  ] as const) {
    it.live(`200 parallel calls on a ${of}'s balance for 50 reserve exactly 50 times`, () =>
      withLedger(
        Effect.gen(function* () {
          const ledger = yield* Ledger
          const key = yield* addUser("a", { quota, remaining })
          const calls = Effect.gen(function* () {
            const reservation = yield* ledger.reserve(requestOf("a", key))
            if (reservation._tag === "Reserved") yield* ledger.settle(reservation.charge, used(1))
            return reservation
          })
          const all = yield* Effect.all(
            Array.from({ length: 200 }, () => calls),
            { concurrency: "unbounded" }
          )
          assert.lengthOf(
            all.filter(({ _tag }) => _tag === "Reserved"),
            50
          )
          assert.lengthOf(
            all.filter((one) => one._tag === "InsufficientQuota" && one.of === of),
            150
          )
          assert.deepStrictEqual(yield* balances("a"), { user: quota - 50, key: remaining - 50 })
        })
      )
    )
  }

  it.live("concurrent settlements and refunds end a charge once", () =>
    withLedger(
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const key = yield* addUser("a", { quota: 100 })
        const charge = charged(yield* ledger.reserve(requestOf("a", key, { units: 40 })))
        assert.deepStrictEqual(yield* balances("a"), { user: 60, key: 60 })
        yield* addsUp
        const ends = [ledger.settle(charge, used(10)), ledger.refund(charge)]
        const done = yield* Effect.all([...ends, ...ends, ...ends], { concurrency: "unbounded" })
        assert.lengthOf(done.filter(Boolean), 1)
        const left = done.indexOf(true) % 2 === 0 ? 90 : 100
        assert.deepStrictEqual(yield* balances("a"), { user: left, key: left })
      })
    )
  )

  it.live("a cost above the reserve is taken from the balance, and the rest is recorded as uncollected", () =>
    withLedger(
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const sql = yield* SqlClient.SqlClient
        const key = yield* addUser("a", { quota: 100, remaining: 30 })
        const charge = charged(yield* ledger.reserve(requestOf("a", key, { units: 20 })))
        assert.isTrue(yield* ledger.settle(charge, used(70)))
        assert.deepStrictEqual(yield* balances("a"), { user: 70, key: 0 })
        const [row] = yield* sql<
          Record<string, number>
        >`SELECT cost, uncollected FROM charges WHERE id = ${charge.id}`
        assert.deepStrictEqual([Number(row?.["cost"]), Number(row?.["uncollected"])], [30, 40])
      })
    )
  )

  it.live("a charge of a deleted key settles the user's balance", () =>
    withLedger(
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const sql = yield* SqlClient.SqlClient
        const key = yield* addUser("a", { quota: 100 })
        const over = charged(yield* ledger.reserve(requestOf("a", key, { units: 10 })))
        const under = charged(yield* ledger.reserve(requestOf("a", key, { units: 10 })))
        yield* sql`DELETE FROM tokens WHERE id = ${key}`
        yield* ledger.settle(over, used(25))
        yield* ledger.settle(under, used(5))
        const [row] = yield* sql<{ quota: number }>`SELECT quota FROM users`
        assert.strictEqual(Number(row?.quota), 70)
        const late = yield* ledger.reserve(requestOf("a", key))
        assert.strictEqual(late._tag === "Rejected" && late.failure.status, 401)
      })
    )
  )

  it.live("refunds of earlier calls do not raise a key's new quota", () =>
    withLedger(
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const keys = yield* ApiKeys
        const key = yield* addUser("a", { quota: 200 })
        const reserve = (units: number) => Effect.map(ledger.reserve(requestOf("a", key, { units })), charged)
        const renamed = yield* reserve(30)
        yield* keys.update("a", key, { name: "another" })
        yield* keys.update("a", key, { name: "a third", remain_quota: 170 })
        yield* ledger.refund(renamed)
        assert.deepStrictEqual(yield* balances("a"), { user: 200, key: 200 })
        const [refunded, under, over] = [yield* reserve(40), yield* reserve(40), yield* reserve(5)]
        yield* keys.update("a", key, { remain_quota: 7 })
        yield* ledger.refund(refunded)
        yield* ledger.settle(under, used(10))
        yield* ledger.settle(over, used(30))
        assert.deepStrictEqual(yield* balances("a"), { user: 160, key: 7 })
        const last = yield* reserve(7)
        assert.deepInclude(yield* ledger.reserve(requestOf("a", key)), {
          _tag: "InsufficientQuota",
          of: "key"
        })
        yield* ledger.settle(last, used(3))
        assert.deepStrictEqual(yield* balances("a"), { user: 157, key: 4 })
        const all = yield* reserve(4)
        yield* keys.update("a", key, { remain_quota: 0 })
        yield* ledger.refund(all)
        assert.deepStrictEqual(yield* balances("a"), { user: 157, key: 0 })
      }).pipe(Effect.provide(ApiKeys.layer))
    )
  )

  it.live("only calls that start after a change of the quota use the new quota", () =>
    withLedger(
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const keys = yield* ApiKeys
        const sql = yield* SqlClient.SqlClient
        const key = yield* addUser("a", { quota: 10_000 })
        const call = Effect.gen(function* () {
          const reservation = yield* ledger.reserve(requestOf("a", key, { units: 3 }))
          yield* Effect.yieldNow
          if (reservation._tag === "Reserved") yield* ledger.settle(reservation.charge, used(1))
        })
        const set = keys.update("a", key, { remain_quota: 60 })
        yield* Effect.all(
          Array.from({ length: 120 }, (_, at) => (at % 20 === 10 ? Effect.delay(set, `${at} millis`) : call)),
          { concurrency: "unbounded" }
        )
        yield* Effect.all(
          Array.from({ length: 20 }, () => call),
          { concurrency: "unbounded" }
        )
        const [row] = yield* sql<{ spent: number }>`SELECT SUM(cost) AS spent FROM charges
          WHERE quota_version = (SELECT quota_version FROM tokens WHERE id = ${key})`
        assert.isAbove(Number(row?.spent), 0)
        assert.strictEqual((yield* balances("a")).key, 60 - Number(row?.spent))
      }).pipe(Effect.provide(ApiKeys.layer))
    )
  )

  it.live("a failing step does not fail others of its group", () =>
    withLedger(
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const key = yield* addUser("a", { quota: 100 })
        // The table rejects negative units.
        const bad = Effect.exit(ledger.reserve(requestOf("a", key, { units: -1 })))
        const good = Effect.exit(ledger.reserve(requestOf("a", key)))
        const exits = yield* Effect.all([good, bad, good], { concurrency: "unbounded" })
        assert.deepStrictEqual(
          exits.map(({ _tag }) => _tag),
          ["Success", "Failure", "Success"]
        )
        assert.deepStrictEqual(yield* balances("a"), { user: 98, key: 98 })
      })
    )
  )

  it.effect("rate limits hold for a minute, and rejected calls do not count", () =>
    withLedger(
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const key = yield* addUser("a", { quota: 100 })
        const limits = { requestsPerMinute: 3, tokensPerMinute: 100 }
        const call = (tokens: number) => ledger.reserve(requestOf("a", key, { tokens, limits }))
        const tags = tagsOf(yield* Effect.forEach([10, 90, 1, 1], call))
        assert.deepStrictEqual(tags, ["Reserved", "Reserved", "RateLimited", "RateLimited"])
        assert.deepStrictEqual(yield* balances("a"), { user: 98, key: 98 })
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(tagsOf(yield* Effect.forEach([500, 1], call)), ["Reserved", "RateLimited"])
        yield* TestClock.adjust("1 minute")
        const some = yield* Effect.all(
          Array.from({ length: 10 }, () => call(1)),
          { concurrency: "unbounded" }
        )
        assert.lengthOf(
          some.filter(({ _tag }) => _tag === "Reserved"),
          3
        )
        // A clock that was ahead is corrected.
        yield* TestClock.setTime(0)
        assert.strictEqual((yield* call(1))._tag, "Reserved")
      })
    )
  )

  it.effect("an Idempotency-Key is bound to one request for a day, and released by a refund", () =>
    withLedger(
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const key = yield* addUser("a", { quota: 100 })
        const other = yield* addUser("b", { quota: 100 })
        const named = (hash: string) => requestOf("a", key, { idempotency: { name: "n", hash } })
        const codeOf = (reservation: Reservation) =>
          reservation._tag === "Rejected" ? reservation.failure.code : reservation._tag
        const first = charged(yield* ledger.reserve(named("x")))
        assert.strictEqual(codeOf(yield* ledger.reserve(named("x"))), "idempotency_in_flight")
        assert.strictEqual(codeOf(yield* ledger.reserve(named("y"))), "idempotency_key_reused")
        const foreign = requestOf("b", other, { idempotency: { name: "n", hash: "y" } })
        assert.strictEqual(codeOf(yield* ledger.reserve(foreign)), "Reserved")

        yield* ledger.refund(first)
        const second = charged(yield* ledger.reserve(named("x")))
        yield* ledger.settle(second, used(1))
        assert.strictEqual(codeOf(yield* ledger.reserve(named("x"))), "idempotency_answer_not_kept")
        yield* ledger.storeResponse(second, { contentType: "application/json", answer: "{}" })
        const again = yield* ledger.reserve(named("x"))
        assert.deepStrictEqual(again._tag === "Replayed" && again.replay, {
          contentType: "application/json",
          answer: "{}"
        })
        assert.deepStrictEqual(yield* balances("a"), { user: 99, key: 99 })
        yield* TestClock.adjust("24 hours")
        assert.strictEqual(codeOf(yield* ledger.reserve(named("y"))), "Reserved")
        // A rejected reservation releases the key.
        const expensive = requestOf("a", key, {
          units: 1000,
          idempotency: { name: "expensive", hash: "x" }
        })
        assert.strictEqual(codeOf(yield* ledger.reserve(expensive)), "InsufficientQuota")
        assert.strictEqual(codeOf(yield* ledger.reserve({ ...expensive, units: 1 })), "Reserved")
      })
    )
  )

  it.live("a call that ends after its lease expired is settled, and a refunded one is not", () =>
    withLedger(
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const key = yield* addUser("a", { quota: 100 })
        const reserve = Effect.map(ledger.reserve(requestOf("a", key, { units: 40 })), charged)
        const goesOn = yield* reserve
        assert.isTrue(yield* ledger.refundExpired(goesOn, false))
        yield* ledger.renew([goesOn.id])
        assert.deepStrictEqual(yield* balances("a"), { user: 100, key: 100 })
        assert.isTrue(yield* ledger.settle(goesOn, used(25)))
        assert.deepStrictEqual(yield* balances("a"), { user: 75, key: 75 })
        yield* addsUp
        assert.isFalse(yield* ledger.settle(goesOn, used(25)))
        assert.isFalse(yield* ledger.refund(goesOn))
        const refunded = yield* reserve
        yield* ledger.refund(refunded)
        assert.isFalse(yield* ledger.settle(refunded, used(25)))
        const short = yield* reserve
        yield* ledger.refundExpired(short, true)
        assert.isTrue(yield* ledger.settle(short, used(80)))
        assert.deepStrictEqual(yield* balances("a"), { user: 0, key: 0 })
      })
    )
  )

  it.effect("expired leases are found by one clock for all servers", () =>
    withLedger(
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const sql = yield* SqlClient.SqlClient
        const start = yield* ledger.clock
        const key = yield* addUser("a", { quota: 100 })
        const renewed = charged(yield* ledger.reserve(requestOf("a", key)))
        const expired = charged(yield* ledger.reserve(requestOf("a", key)))
        const ended = charged(yield* ledger.reserve(requestOf("a", key)))
        yield* ledger.settle(ended, used(1))
        yield* sql`UPDATE charges SET lease_until = lease_until - ${LEASE_MS / 2}`
        yield* ledger.renew([renewed.id, ended.id])
        assert.isEmpty(yield* ledger.expired(start + LEASE_MS / 2 - 1, "calls"))
        const found = yield* ledger.expired(start + LEASE_MS - 1, "calls")
        assert.deepStrictEqual(
          found.map(({ id }) => id),
          [expired.id]
        )
        yield* ledger.assign(renewed.id, "task", 1)
        assert.strictEqual((yield* ledger.ofTask("a", "task"))?.id, renewed.id)
        assert.isUndefined(yield* ledger.ofTask("b", "task"))
      })
    )
  )

  it.live("old charges are deleted, and the ledger's equation still holds", () =>
    withLedger(
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const sql = yield* SqlClient.SqlClient
        const { deleteBefore } = yield* Retention
        const key = yield* addUser("a", { quota: 2000 })
        const old = Array.from({ length: 600 }, () => ledger.reserve(requestOf("a", key)))
        const [open, ...ended] = (yield* Effect.all(old, { concurrency: "unbounded" })).map(charged)
        const [given, ...paid] = ended
        yield* Effect.forEach(paid, (charge) => ledger.settle(charge, used(1)), { concurrency: "unbounded" })
        if (given !== undefined) yield* ledger.refund(given)
        yield* sql`UPDATE charges SET created_at = 0`
        const late = charged(yield* ledger.reserve(requestOf("a", key)))
        yield* ledger.settle(late, used(1))
        yield* addsUp

        assert.strictEqual(yield* deleteBefore(1), 599)
        const left = yield* sql<{ id: string }>`SELECT id FROM charges ORDER BY created_at`
        assert.deepStrictEqual(
          left.map(({ id }) => id),
          [open?.id, late.id]
        )
        assert.strictEqual(yield* deleteBefore(1), 0)
      }).pipe(Effect.provide(retention))
    )
  )
})

onPostgres((_, store) => {
  it.live("calls of the same users at two servers do not deadlock", () =>
    Effect.gen(function* () {
      const env = yield* store
      const users = ["a", "b", "c", "d"]
      const inLedger = <A, E>(
        data: string,
        use: Effect.Effect<A, E, GroupCommit | Ledger | SqlClient.SqlClient>
      ) => Effect.provide(use, ledgerIn(data, env))
      const data = yield* temporaryFolder
      const keys = yield* inLedger(
        data,
        Effect.forEach(users, (user) => addUser(user, { quota: 1000 }))
      )
      /** With Idempotency-Keys that the other server receives too. */
      const calls = (of: ReadonlyArray<string>, concurrency: number, round: number) =>
        Effect.flatMap(Ledger, (ledger) =>
          Effect.forEach(
            Array.from({ length: 160 }, (_, at) => [of[at % of.length] ?? "", at >> 2] as const),
            ([user, at]) => {
              const idempotency = at % round === 0 ? { name: `${round} ${at}`, hash: "x" } : undefined
              const reserved = ledger.reserve(
                requestOf(user, keys[users.indexOf(user)] ?? 0, { idempotency })
              )
              return Effect.flatMap(reserved, (one) =>
                one._tag === "Reserved" ? ledger.settle(one.charge, used(1)) : Effect.succeed(false)
              )
            },
            { concurrency }
          )
        )
      for (const round of [160, 1, 2, 3]) {
        const others = inLedger(yield* temporaryFolder, calls(users.toReversed(), round, round))
        yield* Effect.all([inLedger(data, calls(users, 160, round)), others], { concurrency: 2 })
      }
      const deadlocks = Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* addsUp
        return yield* sql`SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`
      })
      assert.deepStrictEqual(yield* inLedger(data, deadlocks), [{ deadlocks: 0 }])
    }).pipe(Effect.scoped)
  )
})
