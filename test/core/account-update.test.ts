/** Changes of a token, at gateways that ignore, empty, refuse and count meanwhile. */
import { assert, describe, it } from "@effect/vitest"
import { type Account, quota, RETRY_NEVER, systemAccessToken } from "@sluice/core"
import { AccountClient } from "@sluice/core/client"
import { Effect } from "effect"
import { at, someday, tokens } from "./accountCalls.ts"
import { oneApi, plain, type Row, Store } from "./accountGateways.ts"
import { reasonOf } from "./Clients.ts"
import { type Behaviour, json, LoopbackGateway } from "./LoopbackGateway.ts"

describe("an update", () => {
  const silent =
    (store: Store, change: (row: Row) => Row): Behaviour =>
    (seen, response, nth) => {
      const row = store.rows.get(1)
      if (seen.method !== "PUT" || row === undefined) return plain(store)(seen, response, nth)
      store.rows.set(1, change(row))
      json(response, { success: true })
    }
  const update = (changes: Parameters<Account["Service"]["tokens"]["update"]>[1]) =>
    tokens((tokens) => tokens.update(1, changes))

  it.effect("that the gateway did not store is an error that names the field", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [(row: Row) => Row, Parameters<typeof update>[0], string]> = [
        [(row) => row, { name: "new" }, "name"],
        [(row) => row, { enabled: false }, "status"],
        [(row) => row, { remainQuota: quota(900) }, "remain_quota"],
        [(row) => row, { remainQuota: quota(1) }, "remain_quota"],
        [(row) => row, { expires: someday }, "expired_time"],
        [(row) => ({ ...row, name: "new", subnet: "" }), { name: "new" }, "subnet"],
        [(row) => ({ ...row, name: "new", models: "" }), { name: "new" }, "models"],
        [(row) => ({ ...row, name: "new", remain_quota: 0 }), { name: "new" }, "remain_quota"],
        [(row) => ({ ...row, remain_quota: 480 }), { remainQuota: quota(100) }, "remain_quota"],
        [
          (row) => ({ ...row, remain_quota: 480, used_quota: 20 }),
          { remainQuota: quota(900) },
          "remain_quota"
        ]
      ]
      for (const [change, changes, fault] of cases) {
        const fields = { subnet: "10.0.0.0/8", remain_quota: 500, models: "m", used_quota: 0 }
        const store = new Store(1, fields)
        const { value } = yield* at(silent(store, change), reasonOf(update(changes)))
        assert.deepStrictEqual(
          [value._tag, value.message.match(/wrong: (.*?)\./)?.[1]],
          ["InvalidResponse", fault]
        )
      }
    })
  )

  it.effect("of a token in use allows for spending and top-ups meanwhile", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [asked: number | undefined, after: number, used?: number]> = [
        [undefined, 480],
        [undefined, 501],
        [undefined, 0, 500],
        [900, 890],
        [900, 450],
        [520, 490],
        [900, 500, 400],
        [900, 1400],
        [100, 90],
        [100, 150],
        [100, 0]
      ]
      for (const [asked, after, used = 0] of cases) {
        const store = new Store(1, { remain_quota: 500, ...(used > 0 && { used_quota: 7 }) })
        const busy = silent(store, (row) => ({
          ...row,
          name: "new",
          remain_quota: after,
          ...(used > 0 && { used_quota: 7 + used })
        }))
        const changes = { name: "new", ...(asked !== undefined && { remainQuota: quota(asked) }) }
        assert.strictEqual((yield* at(busy, update(changes))).value.remainQuota, quota(after))
      }
    })
  )

  it.effect("that changes the token's key is an error", () =>
    Effect.gen(function* () {
      const changing = (shown: unknown, then: unknown): Behaviour => {
        let written = false
        return ({ method }, response) => {
          written ||= method === "PUT"
          const name = written ? "new" : "token 0"
          const row = { id: 1, name, status: 1, expired_time: -1, remain_quota: 5, subnet: "" }
          json(response, { data: { ...row, key: written ? then : shown } })
        }
      }
      const whole = "0001".repeat(12)
      for (const [shown, then] of [
        [whole, ""],
        [whole, undefined],
        [whole, "0002".repeat(12)],
        ["sk-ab**********yz", undefined],
        ["sk-ab**********yz", "**********"]
      ]) {
        const { value } = yield* at(changing(shown, then), reasonOf(update({ name: "new" })))
        assert.strictEqual(value._tag, "InvalidResponse")
        assert.match(value.message, /these fields are wrong: key\./)
        assert.notInclude(value.message, "000")
      }
      for (const [shown, then] of [
        [whole, `sk-${whole}`],
        [undefined, undefined],
        ["", whole],
        ["sk-ab**********yz", "sk-ab**********yz"]
      ]) {
        assert.strictEqual((yield* at(changing(shown, then), update({ name: "new" }))).value.name, "new")
      }
    })
  )

  it.effect("without changes sends nothing", () =>
    Effect.gen(function* () {
      const { seen } = yield* at(plain(new Store(1)), update({ name: "token 0", enabled: true }))
      assert.deepStrictEqual(seen, ["GET /api/token/1"])
    })
  )

  it.effect("is repeated without undeclared fields if the gateway refuses them", () =>
    Effect.gen(function* () {
      const store = new Store(1, { used_quota: 7 })
      const strict: Behaviour = (seen, response, nth) =>
        "used_quota" in (seen.body ?? {})
          ? json(response, { error: { message: "unknown field", param: "used_quota" } }, 400)
          : plain(store)(seen, response, nth)
      const { value } = yield* at(strict, update({ name: "new" }))
      assert.deepStrictEqual([value.name, value.extra], ["new", { used_quota: 7 }])
      const { value: reason } = yield* at(strict, reasonOf(update({ extra: { used_quota: 0 } })))
      assert.strictEqual(reason._tag, "InvalidRequest")
    })
  )

  it.effect("keeps an expiry of unknown form and never sends a key", () =>
    Effect.gen(function* () {
      const { behave, seen, url: baseUrl } = yield* LoopbackGateway
      const store = new Store(1, { expired_time: "2030-01-02 03:04:05" })
      behave(oneApi(store))
      const client = AccountClient.layer({
        baseUrl,
        accessToken: systemAccessToken("sat-1"),
        retry: RETRY_NEVER
      })
      const { expires } = yield* Effect.provide(update({ name: "new" }), client)
      assert.deepStrictEqual(expires, { _tag: "Unknown", raw: "2030-01-02 03:04:05" })
      assert.strictEqual(store.rows.get(1)?.["expired_time"], "2030-01-02 03:04:05")
      const sent = seen.filter(({ method }) => method === "PUT").map(({ body }) => body)
      assert.isNotEmpty(sent)
      for (const body of sent) assert.notProperty(body, "key")
    }).pipe(Effect.provide(LoopbackGateway.layer))
  )
})
