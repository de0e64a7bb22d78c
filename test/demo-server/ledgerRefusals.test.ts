/** Reservations that are refused: all that was sent with them is undone, on SQLite and PostgreSQL. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Ledger, type ReservationRequest } from "../../apps/demo-server/src/billing/Ledger.ts"
import { outOfBalance } from "./Equation.ts"
import { addUser, balances, requestOf, withLedger } from "./LedgerIn.ts"
import { onEachStore } from "./Stores.ts"

/** Charges, and the calls that are counted in the window of the one key. */
const traces = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const charges = yield* sql`SELECT id FROM charges`
  const [window] = yield* sql<{ requests: number; tokens: number }>`SELECT requests, tokens FROM rate_windows`
  return {
    charges: charges.length,
    requests: Number(window?.requests ?? 0),
    tokens: Number(window?.tokens ?? 0)
  }
})

const limits = { requestsPerMinute: 5, tokensPerMinute: 50 }

const refusals: ReadonlyArray<
  readonly [by: string, quota: number, remaining: number, Partial<ReservationRequest>]
> = [
  ["the user's balance", 3, 1000, { units: 4 }],
  ["the key's balance", 1000, 3, { units: 4 }],
  ["the limit of tokens", 1000, 1000, { units: 4, tokens: 51 }]
]

onEachStore((store) => {
  for (const table of ["tokens", "users"] as const)
    it.live(`a disabled row of ${table} settles what runs, and reserves no more`, () =>
      withLedger(
        store,
        Effect.gen(function* () {
          const ledger = yield* Ledger
          const sql = yield* SqlClient.SqlClient
          const key = yield* addUser("a", { quota: 100 })
          const running = yield* ledger.reserve(requestOf("a", key, { units: 10 }))
          yield* sql`UPDATE ${sql(table)} SET status = 0`
          const late = yield* ledger.reserve(requestOf("a", key))
          assert.strictEqual(late._tag === "Rejected" && late.failure.status, 401)
          assert.match(late._tag === "Rejected" ? late.failure.message : "", /is disabled/)
          if (running._tag === "Reserved")
            yield* ledger.settle(running.charge, { cost: 25, inputTokens: 1, outputTokens: 0 })
          assert.strictEqual((yield* balances("a")).user, 75)
          yield* sql`UPDATE ${sql(table)} SET status = 1`
          assert.strictEqual((yield* ledger.reserve(requestOf("a", key)))._tag, "Reserved")
        })
      )
    )

  for (const [by, quota, remaining, refused] of refusals) {
    it.live(`a reservation that ${by} refuses leaves no trace`, () =>
      withLedger(
        store,
        Effect.gen(function* () {
          const ledger = yield* Ledger
          const key = yield* addUser("a", { quota, remaining })
          yield* ledger.reserve(requestOf("a", key, { limits, units: 1, tokens: 10 }))
          const reservation = yield* ledger.reserve(requestOf("a", key, { limits, ...refused }))
          assert.notStrictEqual(reservation._tag, "Reserved")
          assert.deepStrictEqual(yield* balances("a"), { user: quota - 1, key: remaining - 1 })
          assert.deepStrictEqual(yield* traces, { charges: 1, requests: 1, tokens: 10 })
          assert.deepStrictEqual(yield* outOfBalance, [])
        })
      )
    )
  }

  it.live("a call over the limit of tokens is the first of its minute after one that a balance refused", () =>
    withLedger(
      store,
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const key = yield* addUser("a", { quota: 3 })
        const large = { limits, tokens: 100 }
        const { _tag } = yield* ledger.reserve(requestOf("a", key, { ...large, units: 4 }))
        assert.strictEqual(_tag, "InsufficientQuota")
        const reservation = yield* ledger.reserve(requestOf("a", key, { ...large, units: 1 }))
        assert.strictEqual(reservation._tag, "Reserved")
      })
    )
  )
})
