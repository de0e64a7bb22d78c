/** Refusals with status 200, answers of any form, and what may be asked for again. */
import { assert, describe, it } from "@effect/vitest"
import { Account, type GatewayError } from "@sluice/core"
import { Expiry } from "@sluice/core/contract"
import { Effect, Logger, Redacted } from "effect"
import { ada, at, AT_ONCE, listed, someday, tokens } from "./accountCalls.ts"
import { newApi, plain, Store } from "./accountGateways.ts"
import { reasonOf } from "./Clients.ts"
import { type Behaviour, json } from "./LoopbackGateway.ts"

describe("a refusal with status 200", () => {
  it.effect("is an error of every call, without a retry", () =>
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

describe("an update whose result is unknown", () => {
  it.effect("names the update as the failed operation, also if reading back failed", () =>
    Effect.gen(function* () {
      const store = new Store(1)
      const stalling: Behaviour = (seen, response, nth) =>
        nth < 2 ? plain(store)(seen, response, nth) : void response.destroy()
      const { value } = yield* at(stalling, Effect.flip(tokens(({ rename }) => rename(1, "new"))))
      assert.deepStrictEqual([value.operation, value.reason._tag], ["update token", "Unreachable"])
      assert.strictEqual(store.rows.get(1)?.["name"], "new")
    })
  )
})

describe("calls with an effect", () => {
  const failing =
    (status: number): Behaviour =>
    (_, response) =>
      json(response, { message: "busy" }, status)
  const rotate = Account.use(({ rotateAccessToken }) => rotateAccessToken)
  const create = tokens(({ create }) => create(ada))

  it.effect("a rotation of the access token is never repeated", () =>
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

  it.effect("a creation is repeated only after 429; other calls by the policy", () =>
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

  it.effect("a removal succeeds if its first response was lost", () =>
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

describe("responses of any form", () => {
  const create = tokens(({ create }) => create(ada))
  const LATER = Date.UTC(2030, 0, 2, 3, 4, 5) / 1000
  const answering =
    (text: string): Behaviour =>
    (_, response) => {
      response.writeHead(200)
      response.end(text)
    }

  it.effect("the new access token is found in any known field, and the body is kept", () =>
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

  it.effect("a removal accepts any body except HTML", () =>
    Effect.gen(function* () {
      const remove = tokens(({ remove }) => remove(1))
      for (const text of ["", "OK", "1", "null", '{"success":true,"data":7}', "[]"])
        yield* at(answering(text), remove)
      const { value } = yield* at(answering("<!doctype html><title>Sign in</title>"), reasonOf(remove))
      assert.strictEqual(value._tag, "InvalidResponse")
      assert.include(value.message, "base URL")
    })
  )

  it.effect("a created token without a readable key is an error", () =>
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

  it.effect("a returned key is never lost", () =>
    Effect.gen(function* () {
      const key = "sk-made-0123456789abcdef"
      const row = { id: 7, name: ada.name, status: 1, expired_time: -1 }
      const broken: Behaviour = (_, response) => json(response, { message: "busy" }, 500)
      const empty: Behaviour = (_, response) => json(response, { success: true, data: [] })
      const odd: Behaviour = (_, response) => json(response, { data: { ...row, remain_quota: null } })
      const other: Behaviour = (_, response) =>
        json(response, { data: [{ ...row, expired_time: LATER, remain_quota: 500, key: "sk-another" }] })
      const found: Behaviour = (_, response) =>
        json(response, { data: [{ ...row, expired_time: LATER, remain_quota: 500, key: "sk-m****ef" }] })
      const cases: ReadonlyArray<readonly [data: unknown, then: Behaviour, id: number | undefined]> = [
        [{ id: 7, key }, broken, 7],
        [{ id: 7, key, name: null }, broken, 7],
        [{ ...row, key, remain_quota: null }, odd, 7],
        [{ id: "seven", key }, empty, undefined],
        [{ key }, empty, undefined],
        [{ key }, broken, undefined],
        [{ key }, other, undefined],
        [{ key }, found, 7],
        [key, empty, undefined],
        [key.slice(3).repeat(3), empty, undefined]
      ]
      for (const [data, then, id] of cases) {
        const made: Behaviour = (seen, response, nth) =>
          seen.method === "POST" ? json(response, { success: true, data }) : then(seen, response, nth)
        const { seen, value } = yield* at(made, create, AT_ONCE)
        const { enabled, expires, extra, name, remainQuota } = value
        const shown = typeof data === "string" ? data : key
        assert.deepStrictEqual([Redacted.value(value.key), value.id], [shown, id], JSON.stringify(data))
        const asked = { name, remainQuota, expires, extra: then === found ? ada.extra : extra }
        assert.deepStrictEqual({ ...asked, subnet: ada.subnet }, ada)
        assert.isTrue(enabled)
        assert.lengthOf(seen, 2, "a key that is known does not wait for what is tried again")
      }
    })
  )

  it.effect("a token that expires within a second is found after a silent creation", () =>
    Effect.gen(function* () {
      const store = new Store()
      const expires = Expiry.at("2030-01-02T03:04:05.678Z")
      const { value } = yield* at(
        newApi(store),
        tokens(({ create }) => create({ ...ada, expires }))
      )
      assert.deepStrictEqual(
        [Redacted.value(value.key), value.expires],
        [store.rows.get(1)?.["key"], someday]
      )
    })
  )

  it.effect("the error of a failed read after creation advises against a second one", () =>
    Effect.gen(function* () {
      const words: ReadonlyArray<unknown> = [{ id: 7 }, { id: 7, key: "sk-ab****yz" }, { id: 7, key: null }]
      for (const data of words) {
        const failing: Behaviour = ({ method }, response) =>
          method === "POST" ? json(response, { data }) : json(response, { message: "busy" }, 500)
        const { value } = yield* at(failing, Effect.flip(create), AT_ONCE)
        assert.deepStrictEqual(
          [value.operation, value.reason._tag, value.isRetryable],
          ["create token", "InvalidResponse", false]
        )
        assert.match(value.message, /created the token \(id 7\).*failed: busy\..*do not create it again\.$/)
      }
      const silent: Behaviour = ({ method }, response) =>
        method === "POST" ? json(response, { data: "created" }) : json(response, { message: "busy" }, 500)
      const { value } = yield* at(silent, Effect.flip(create))
      assert.match(value.message, /created the token, and reading it back failed.*do not create it again\.$/)
    })
  )

  it.effect("a masked key is not a key", () =>
    Effect.gen(function* () {
      const { value } = yield* at(newApi(new Store(1)), listed)
      assert.notProperty(value[0], "key")
      assert.strictEqual(value[0]?.maskedKey, "0001**********")
    })
  )

  it.effect("an invalid token is skipped with a warning that has none of its values", () =>
    Effect.gen(function* () {
      const row = { name: "t", status: 1, expired_time: -1, remain_quota: 5, subnet: "" }
      const good = [
        { ...row, id: 1 },
        { ...row, id: 4 }
      ]
      const odd = [{ ...row, id: 2, remain_quota: "canary" }, { ...row, key: "sk-canary" }, "canary"]
      const all = [good[0], ...odd, good[1]]
      for (const data of [all, { items: all, total: 5 }]) {
        const logged: Array<string> = []
        const logger = Logger.make(({ message }) => void logged.push(String(message)))
        const told = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
          Effect.provide(effect, Logger.layer([logger]))
        const { seen, value } = yield* told(at(answering(JSON.stringify({ data })), listed))
        assert.deepStrictEqual(
          value.map(({ id }) => id),
          [1, 4]
        )
        assert.lengthOf(seen, 1)
        const search = tokens((tokens) => tokens.search("t"))
        const found = yield* told(at(answering(JSON.stringify({ data })), search))
        assert.lengthOf(found.value, 2)
        assert.lengthOf(logged, 2)
        for (const line of logged) {
          assert.match(line, /^3 of 5 tokens .* skipped: token 2 \(remain_quota\), a token without an id/)
          assert.notInclude(line, "canary")
        }
      }
      const none = answering(JSON.stringify({ data: odd }))
      const { value } = yield* at(none, reasonOf(listed))
      assert.strictEqual(value._tag, "InvalidResponse")
      assert.match(value.message, /^None of the 3 tokens/)
      assert.notInclude(value.message, "canary")
    })
  )

  it.effect("rejects a balance beyond the safe integers", () =>
    Effect.gen(function* () {
      for (const quota of ["9007199254740993", "0.5", '"seven"', '"9007199254740993"']) {
        const text = `{"data":{"username":"ada","quota":${quota}}}`
        const { value } = yield* at(answering(text), reasonOf(Account.use(({ user }) => user)))
        assert.strictEqual(value._tag, "InvalidResponse")
      }
    })
  )
})
