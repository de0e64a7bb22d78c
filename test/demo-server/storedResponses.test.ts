/** Responses that are stored for an `Idempotency-Key`: who gets them, and how many bytes they have. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Ledger } from "../../apps/demo-server/src/billing/Ledger.ts"
import { addUser, requestOf, withLedger } from "./LedgerIn.ts"
import { onEachStore } from "./Stores.ts"

const DAY = 86_400_000
const LIMIT = 256 * 1024 * 1024

const reserve = (key: number, name: string) =>
  Effect.flatMap(Ledger, (ledger) =>
    ledger.reserve(requestOf("a", key, { idempotency: { name, hash: "x" } }))
  )

/** Makes a call and stores its response. Returns the result of a repeated call. */
const store = Effect.fnUntraced(function* (key: number, name: string, bytes: number) {
  const ledger = yield* Ledger
  const first = yield* reserve(key, name)
  if (first._tag !== "Reserved") return first._tag
  yield* ledger.settle(first.charge, { cost: 1, inputTokens: 3, outputTokens: 0 })
  // Two bytes each.
  const answer = "é".repeat(bytes / 2)
  yield* ledger.storeResponse(first.charge, { contentType: "text/plain", answer })
  return (yield* reserve(key, name))._tag
})

onEachStore((env) => {
  it.effect("their bytes are counted for a day, and limited", () =>
    withLedger(
      env,
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const sql = yield* SqlClient.SqlClient
        const key = yield* addUser("a", { quota: 100 })
        const stored = ledger.storedBytes("a")
        const setStored = (bytes: number) => sql`UPDATE users SET stored_bytes = ${bytes} WHERE id = 'a'`

        assert.strictEqual(yield* store(key, "first", 5000), "Replayed")
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(yield* store(key, "second", 300), "Replayed")
        assert.strictEqual(yield* stored, 5300)
        yield* setStored(LIMIT - 2000)
        assert.strictEqual(yield* store(key, "long", 3000), "Rejected")
        assert.strictEqual(yield* store(key, "short", 1000), "Replayed")
        yield* setStored(6300)
        yield* TestClock.adjust("23 hours")
        // The first has expired: it is replaced by the same key.
        assert.strictEqual(yield* store(key, "first", 200), "Replayed")
        assert.strictEqual(yield* stored, 1500)
        yield* TestClock.adjust("1 hour")
        yield* ledger.deleteResponses(DAY / 24)
        assert.strictEqual(yield* stored, 200)
      })
    )
  )

  it.effect("go to the key that paid for them, and to keys that could", () =>
    withLedger(
      env,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const key = yield* addUser("a", { quota: 100 })
        const [added] = yield* sql<{ id: number }>`INSERT INTO tokens (user_id, name, hash, shown, status,
          remain_quota, subnet, created_at) SELECT user_id, name, 'other hash', shown, status, 0, subnet, 0
          FROM tokens WHERE id = ${key} RETURNING id`
        const other = Number(added?.id)
        assert.strictEqual(yield* store(key, "n", 100), "Replayed")
        assert.strictEqual((yield* reserve(other, "n"))._tag, "InsufficientQuota")
        yield* sql`UPDATE tokens SET remain_quota = CASE id WHEN ${key} THEN 0 ELSE 1 END WHERE user_id = 'a'`
        assert.strictEqual((yield* reserve(other, "n"))._tag, "Replayed")
        assert.strictEqual((yield* reserve(key, "n"))._tag, "Replayed")
      })
    )
  )

  it.live("a response whose key has gone meanwhile is not counted", () =>
    withLedger(
      env,
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const sql = yield* SqlClient.SqlClient
        const first = yield* reserve(yield* addUser("a", { quota: 100 }), "n")
        assert.strictEqual(first._tag, "Reserved")
        if (first._tag !== "Reserved") return
        yield* sql`DELETE FROM idempotency`
        yield* ledger.storeResponse(first.charge, { contentType: "text/plain", answer: "x".repeat(500) })
        assert.strictEqual(yield* ledger.storedBytes("a"), 0)
      })
    )
  )
})
