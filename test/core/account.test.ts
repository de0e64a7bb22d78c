/** The account, at gateways in the manner of each family, over a real server. */
import { assert, describe, it } from "@effect/vitest"
import {
  Account,
  type Expiry,
  type GatewayError,
  NEVER_EXPIRES,
  quota,
  RETRY,
  RETRY_NEVER,
  type RetryPolicy,
  systemAccessToken,
  type Token
} from "@sluice/core"
import { AccountClient } from "@sluice/core/client"
import { DateTime, Effect, Redacted, Stream } from "effect"
import { newApi, oneApi, plain, type Row, Store } from "./accountGateways.ts"
import { reasonOf } from "./Clients.ts"
import { type Behaviour, json, LoopbackGateway } from "./LoopbackGateway.ts"

/** Runs against a gateway of that behaviour, and gives the requests that it saw as well. */
const at = <A, E>(
  behaviour: Behaviour,
  effect: Effect.Effect<A, E, Account>,
  retry: RetryPolicy = RETRY_NEVER
) =>
  Effect.gen(function* () {
    const { behave, seen, url: baseUrl } = yield* LoopbackGateway
    behave(behaviour)
    const accessToken = systemAccessToken("sat-1")
    const value = yield* Effect.provide(effect, AccountClient.layer({ baseUrl, accessToken, retry }))
    return { value, seen: seen.map(({ method, path }) => `${method} ${path}`) }
  }).pipe(Effect.provide(LoopbackGateway.layer))

/** Tries again without a wait. */
const AT_ONCE: RetryPolicy = { ...RETRY, base: "0 millis" }

const tokens = <A, E>(use: (tokens: Account["Service"]["tokens"]) => Effect.Effect<A, E>) =>
  Account.use(({ tokens }) => use(tokens))
const listed = tokens(({ list }) => Stream.runCollect(list))
const someday: Expiry = { _tag: "At", at: DateTime.makeUnsafe("2030-01-02T03:04:05Z") }
const extra = { unlimited_quota: true, models: "m-1" }
const ada = { name: "ada's", remainQuota: quota(500), expires: someday, subnet: "10.0.0.0/8", extra }
const essence = ({ enabled, expires, name, remainQuota, subnet, extra }: Token) => ({
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
  it.effect("says who it is and what is left, and keeps what else it says", () =>
    Effect.gen(function* () {
      const { value } = yield* at(
        gateway(new Store()),
        Account.use(({ user }) => user)
      )
      assert.deepStrictEqual(value, { username: "ada", quota: quota(1_500_001), extra: { group: "vip" } })
    })
  )

  it.effect("makes a token, changes it without losing a field, and removes it", () =>
    Effect.gen(function* () {
      const store = new Store(12)
      const life = tokens(
        Effect.fnUntraced(function* (tokens) {
          const made = yield* tokens.create(ada)
          assert.strictEqual(Redacted.value(made.key), store.rows.get(13)?.["key"])
          const first = { ...ada, enabled: true, expires: someday }
          assert.deepStrictEqual(essence(made), essence({ ...made, ...first }))

          const renamed = yield* tokens.rename(made.id, "lovelace")
          assert.deepStrictEqual(essence(renamed), { ...essence(made), name: "lovelace" })
          const disabled = yield* tokens.disable(made.id)
          assert.deepStrictEqual(essence(disabled), { ...essence(renamed), enabled: false })
          const enabled = yield* tokens.enable(made.id)
          assert.deepStrictEqual(essence(enabled), essence(renamed))
          const last = yield* tokens.update(made.id, {
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
            [made.id]
          )
          assert.deepStrictEqual(essence(yield* tokens.get(made.id)), essence(last))
          yield* tokens.remove(made.id)
          assert.strictEqual((yield* reasonOf(tokens.get(made.id)))._tag, "NotFound")
          assert.strictEqual((yield* reasonOf(tokens.rename(made.id, "x")))._tag, "NotFound")
        })
      )
      yield* at(gateway(store), life)
      assert.strictEqual(store.rows.size, 12)
    })
  )

  it.effect("lists each token once, however many pages there are", () =>
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

  it.effect("gives a new system access token", () =>
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

  it.effect("end where a gateway gives the same page for every number", () =>
    Effect.gen(function* () {
      const { seen, value } = yield* at(
        answering(() => ({ data: rows(40) })),
        listed
      )
      assert.deepStrictEqual([value.length, seen.length], [40, 3])
    })
  )

  it.effect("end on a short page, the first one without a page number", () =>
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

  it.effect("read only as many pages as are wanted", () =>
    Effect.gen(function* () {
      const some = tokens(({ list }) => Stream.runCollect(Stream.take(list, 5)))
      const { seen, value } = yield* at(oneApi(new Store(90)), some)
      assert.deepStrictEqual([value.length, seen.length], [5, 1])
    })
  )

  it.effect("of nothing come in every form", () =>
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

  it.effect("that a gateway ignores, or does something else for, is an error that names it", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [(row: Row) => Row, Parameters<typeof update>[0], string]> = [
        [(row) => row, { name: "new" }, "name"],
        [(row) => row, { enabled: false }, "status"],
        [(row) => row, { remainQuota: quota(900) }, "remain_quota"],
        [(row) => row, { remainQuota: quota(1) }, "remain_quota"],
        [(row) => row, { expires: someday }, "expired_time"],
        [(row) => ({ ...row, name: "new", subnet: "" }), { name: "new" }, "subnet"],
        [(row) => ({ ...row, name: "new", models: "" }), { name: "new" }, "models"],
        [(row) => ({ ...row, name: "new", remain_quota: 501 }), { name: "new" }, "remain_quota"]
      ]
      for (const [change, changes, fault] of cases) {
        const store = new Store(1, { subnet: "10.0.0.0/8", remain_quota: 500, models: "m" })
        const { value } = yield* at(silent(store, change), reasonOf(update(changes)))
        assert.deepStrictEqual(
          [value._tag, value.message.match(/be: (.*?)\./)?.[1]],
          ["InvalidResponse", fault]
        )
      }
    })
  )

  it.effect("of a token in use: what it spends meanwhile is no fault", () =>
    Effect.gen(function* () {
      const store = new Store(1, { remain_quota: 500 })
      const spending = silent(store, (row) => ({ ...row, name: "new", remain_quota: 480 }))
      assert.strictEqual((yield* at(spending, update({ name: "new" }))).value.remainQuota, quota(480))
      const raising = silent(store, (row) => ({ ...row, remain_quota: 890 }))
      assert.strictEqual(
        (yield* at(raising, update({ remainQuota: quota(900) }))).value.remainQuota,
        quota(890)
      )
    })
  )

  it.effect("that changes nothing sends nothing", () =>
    Effect.gen(function* () {
      const { seen } = yield* at(plain(new Store(1)), update({ name: "token 0", enabled: true }))
      assert.deepStrictEqual(seen, ["GET /api/token/1"])
    })
  )

  it.effect("is sent without the fields of the gateway's own where it refuses them", () =>
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

  it.effect("keeps an expiry of unknown form as it came, and never sends a key", () =>
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

describe("a refusal with status 200", () => {
  it.effect("is an error of every call, and is not tried again", () =>
    Effect.gen(function* () {
      const refusing: Behaviour = (_, response) =>
        json(response, { success: false, message: "无权进行此操作", data: null })
      const calls = [
        Account.use(({ user }) => user),
        Account.use(({ rotateAccessToken }) => rotateAccessToken),
        listed,
        tokens(({ get }) => get(1)),
        tokens(({ create }) => create(ada)),
        tokens(({ update }) => update(1, { name: "x" })),
        tokens(({ remove }) => remove(1)),
        tokens(({ search }) => search("x"))
      ]
      for (const call of calls) {
        const { seen, value } = yield* at(refusing, reasonOf<unknown, Account>(call), AT_ONCE)
        assert.deepStrictEqual([value._tag, value.message, seen.length], ["Forbidden", "无权进行此操作", 1])
      }
    })
  )
})

describe("what takes effect each time", () => {
  const failing =
    (status: number): Behaviour =>
    (_, response) =>
      json(response, { message: "busy" }, status)
  const rotate = Account.use(({ rotateAccessToken }) => rotateAccessToken)
  const create = tokens(({ create }) => create(ada))

  it.effect("a rotation of the access token is asked for once", () =>
    Effect.gen(function* () {
      for (const status of [429, 500, 503]) {
        assert.strictEqual(
          (yield* at(failing(status), reasonOf<unknown, Account>(rotate), AT_ONCE)).seen.length,
          1
        )
      }
      const cut: Behaviour = (_, response) => void response.destroy()
      assert.strictEqual((yield* at(cut, reasonOf<unknown, Account>(rotate), AT_ONCE)).seen.length, 1)
    })
  )

  it.effect("a creation again after a 429 alone; other calls by the policy", () =>
    Effect.gen(function* () {
      const count = (status: number, call: Effect.Effect<unknown, GatewayError, Account>) =>
        Effect.map(at(failing(status), reasonOf(call), AT_ONCE), ({ seen }) => seen.length)
      assert.strictEqual(yield* count(503, create), 1)
      assert.strictEqual(yield* count(429, create), 4)
      assert.strictEqual(
        yield* count(
          503,
          tokens(({ remove }) => remove(1))
        ),
        4
      )
    })
  )

  it.effect("a removal whose answer was lost has happened", () =>
    Effect.gen(function* () {
      const store = new Store(1)
      const losing: Behaviour = (seen, response, nth) => {
        if (nth > 0) return plain(store)(seen, response, nth)
        store.rows.delete(1)
        response.destroy()
      }
      yield* at(
        losing,
        tokens(({ remove }) => remove(1)),
        AT_ONCE
      )
      const { value } = yield* at(plain(store), reasonOf(tokens(({ remove }) => remove(1))), AT_ONCE)
      assert.strictEqual(value._tag, "NotFound")
    })
  )
})

describe("answers of any form", () => {
  const answering =
    (text: string): Behaviour =>
    (_, response) => {
      response.writeHead(200)
      response.end(text)
    }

  it.effect("the new access token is found where it stands, and the whole answer kept where it is not", () =>
    Effect.gen(function* () {
      const rotate = Account.use(({ rotateAccessToken }) => rotateAccessToken)
      const found = [
        '{"data":"sat-2"}',
        '{"data":{"access_token":"sat-2"}}',
        '{"token":"sat-2"}',
        '"sat-2"',
        "sat-2"
      ]
      for (const text of found) {
        const { value } = yield* at(answering(text), rotate)
        assert.strictEqual(value.accessToken && Redacted.value(value.accessToken), "sat-2", text)
      }
      const { value } = yield* at(answering('{"data":{"neu":"sat-2"}}'), rotate)
      assert.notProperty(value, "accessToken")
      assert.deepStrictEqual(Redacted.value(value.body), { data: { neu: "sat-2" } })
    })
  )

  it.effect("a removal may be answered by anything but a page", () =>
    Effect.gen(function* () {
      const remove = tokens(({ remove }) => remove(1))
      for (const text of ["", "OK", "1", "null", '{"success":true,"data":7}', "[]"])
        yield* at(answering(text), remove)
      const { value } = yield* at(answering("<!doctype html><title>Sign in</title>"), reasonOf(remove))
      assert.strictEqual(value._tag, "InvalidResponse")
      assert.include(value.message, "base URL")
    })
  )

  it.effect("a token that was created and whose key is not shown is an error that says so", () =>
    Effect.gen(function* () {
      const store = new Store()
      const hiding: Behaviour = (seen, response, nth) => {
        if (seen.method !== "POST") return plain(store)(seen, response, nth)
        json(response, { success: true, data: { id: store.add({ name: "ada's" }).id } })
      }
      const ignored: Behaviour = (seen, response, nth) =>
        seen.method === "POST" ? json(response, { success: true }) : newApi(store)(seen, response, nth)
      const none = yield* at(ignored, reasonOf(tokens(({ create }) => create(ada))))
      assert.match(none.value.message, /created the token, and does not show its key/)
      const { value } = yield* at(hiding, reasonOf(tokens(({ create }) => create(ada))))
      assert.strictEqual(value._tag, "InvalidResponse")
      assert.match(value.message, /created the token \(id 1\).*do not create it again/)
    })
  )

  it.effect("a masked key is no key", () =>
    Effect.gen(function* () {
      const { value } = yield* at(newApi(new Store(1)), listed)
      assert.notProperty(value[0], "key")
      assert.strictEqual(value[0]?.maskedKey, "0001**********")
    })
  )

  it.effect("a balance that cannot be exact is refused", () =>
    Effect.gen(function* () {
      for (const quota of ["9007199254740993", "0.5", '"7"']) {
        const text = `{"data":{"username":"ada","quota":${quota}}}`
        const { value } = yield* at(answering(text), reasonOf(Account.use(({ user }) => user)))
        assert.strictEqual(value._tag, "InvalidResponse")
      }
    })
  )
})
