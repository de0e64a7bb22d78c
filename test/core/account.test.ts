/** The account, at gateways in the manner of each family, over a real server. */
import { assert, describe, it } from "@effect/vitest"
import { Account, quota, type Token } from "@sluice/core"
import { NEVER_EXPIRES } from "@sluice/core/contract"
import { Effect, Redacted, Stream } from "effect"
import { ada, at, listed, someday, tokens } from "./accountCalls.ts"
import { newApi, oneApi, plain, Store } from "./accountGateways.ts"
import { reasonOf } from "./Clients.ts"
import { type Behaviour, json } from "./LoopbackGateway.ts"

const essence = ({ enabled, expires, name, remainQuota, subnet, extra }: Omit<Token, "id">) => ({
  enabled,
  expires,
  name,
  remainQuota,
  subnet,
  extra: { unlimited_quota: extra?.["unlimited_quota"], models: extra?.["models"] }
})

describe.each([
  ["the interface", plain],
  ["one-api", oneApi],
  ["new-api", newApi]
])("an account in the manner of %s", (_, gateway) => {
  it.effect("returns the user, the balance and undeclared fields", () =>
    Effect.gen(function* () {
      const { value } = yield* at(
        gateway(new Store()),
        Account.use(({ user }) => user)
      )
      assert.deepStrictEqual(value, { username: "ada", quota: quota(1_500_001), extra: { group: "vip" } })
    })
  )

  it.effect("creates, updates and removes a token without losing a field", () =>
    Effect.gen(function* () {
      const store = new Store(12)
      const life = tokens(
        Effect.fnUntraced(function* (tokens) {
          const made = yield* tokens.create(ada)
          const id = made.id ?? 0
          assert.strictEqual(Redacted.value(made.key), store.rows.get(13)?.["key"])
          const first = { ...ada, enabled: true, expires: someday }
          assert.deepStrictEqual(essence(made), essence({ ...made, ...first }))

          const renamed = yield* tokens.rename(id, "lovelace")
          assert.deepStrictEqual(essence(renamed), { ...essence(made), name: "lovelace" })
          const disabled = yield* tokens.disable(id)
          assert.deepStrictEqual(essence(disabled), { ...essence(renamed), enabled: false })
          const enabled = yield* tokens.enable(id)
          assert.deepStrictEqual(essence(enabled), essence(renamed))
          const last = yield* tokens.update(id, {
            remainQuota: quota(900),
            expires: NEVER_EXPIRES,
            subnet: "",
            extra: { models: "m-2" }
          })
          assert.deepStrictEqual(essence(last), {
            ...essence(renamed),
            remainQuota: quota(900),
            expires: NEVER_EXPIRES,
            subnet: "",
            extra: { unlimited_quota: true, models: "m-2" }
          })

          const found = yield* tokens.search("love")
          assert.deepStrictEqual(
            found.map(({ id }) => id),
            [id]
          )
          assert.deepStrictEqual(essence(yield* tokens.get(id)), essence(last))
          yield* tokens.remove(id)
          assert.strictEqual((yield* reasonOf(tokens.get(id)))._tag, "NotFound")
          assert.strictEqual((yield* reasonOf(tokens.rename(id, "x")))._tag, "NotFound")
        })
      )
      yield* at(gateway(store), life)
      assert.strictEqual(store.rows.size, 12)
    })
  )

  it.effect("lists each token once, over any number of pages", () =>
    Effect.gen(function* () {
      for (const count of [0, 1, 9, 10, 11, 30, 99, 100, 101, 250]) {
        const store = new Store(count)
        const { seen, value } = yield* at(gateway(store), listed)
        const ids = value.map(({ id }) => id)
        assert.deepStrictEqual(
          ids.toSorted((a, b) => a - b),
          [...store.rows.keys()],
          `${count} tokens`
        )
        assert.isAtMost(seen.length, Math.ceil(count / 10) + 2)
      }
    })
  )

  it.effect("rotates the system access token", () =>
    Effect.gen(function* () {
      const { value } = yield* at(
        gateway(new Store()),
        Account.use(({ rotateAccessToken }) => rotateAccessToken)
      )
      assert.match(Redacted.value(value.accessToken!), /^sat-/)
      assert.include(JSON.stringify(Redacted.value(value.body)), Redacted.value(value.accessToken!))
    })
  )
})

describe("lists", () => {
  const rows = (count: number) => new Store(count).newestFirst
  const answering =
    (answer: (path: string, nth: number) => unknown): Behaviour =>
    (seen, response, nth) =>
      json(response, answer(seen.path, nth))

  it.effect("end if the gateway returns the same page for every number", () =>
    Effect.gen(function* () {
      const { seen, value } = yield* at(
        answering(() => ({ data: rows(40) })),
        listed
      )
      assert.deepStrictEqual([value.length, seen.length], [40, 3])
    })
  )

  it.effect("end after a short page; the first is requested without a number", () =>
    Effect.gen(function* () {
      const pages = [rows(25).slice(0, 10), rows(25).slice(10, 20), rows(25).slice(20)]
      const { seen, value } = yield* at(
        answering((_, nth) => ({ data: pages[nth] })),
        listed
      )
      assert.strictEqual(value.length, 25)
      assert.deepStrictEqual(seen, [
        "GET /api/token/?num=100&size=100",
        "GET /api/token/?num=100&p=1&size=100",
        "GET /api/token/?num=100&p=2&size=100"
      ])
    })
  )

  it.effect("are complete if pages are small and the gateway states the total", () =>
    Effect.gen(function* () {
      for (const first of [0, 1]) {
        for (const [count, total, most] of [
          [12, 12, 5],
          [12, 13, 6],
          [5, 5, 2],
          [3, 0, 1],
          [25, 5, 6]
        ] as const) {
          const size = count === 25 ? 10 : 5
          const paged = answering((path) => {
            const p = Number(new URL(path, "http://gateway").searchParams.get("p") ?? first) - first
            return { data: { items: rows(count).slice(p * size, (p + 1) * size), total } }
          })
          const { seen, value } = yield* at(paged, listed)
          assert.deepStrictEqual(
            value.map(({ id }) => id),
            rows(count).map(({ id }) => id)
          )
          assert.isAtMost(seen.length, most)
        }
      }
    })
  )

  it.effect("read only as many pages as the stream takes", () =>
    Effect.gen(function* () {
      const some = tokens(({ list }) => Stream.runCollect(Stream.take(list, 5)))
      const { seen, value } = yield* at(oneApi(new Store(90)), some)
      assert.deepStrictEqual([value.length, seen.length], [5, 1])
    })
  )

  it.effect("may be empty in any form", () =>
    Effect.gen(function* () {
      for (const data of [[], null, { items: [], total: 0 }, { items: null, total: 0 }]) {
        assert.deepStrictEqual(
          (yield* at(
            answering(() => ({ data })),
            listed
          )).value,
          []
        )
      }
    })
  )
})
