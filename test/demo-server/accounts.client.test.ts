/** The typed client against a running server. */
import { assert, describe, it } from "@effect/vitest"
import { Account, quota, systemAccessToken } from "@sluice/core"
import { AccountClient } from "@sluice/core/client"
import { DateTime, Effect, Option, Redacted, Stream } from "effect"
import { dataFolder, startProcess } from "./Process.ts"
import { startServer } from "./TestServer.ts"

const account = (url: string, token: string) =>
  AccountClient.layer({ baseUrl: url, accessToken: systemAccessToken(token) })

describe("the typed client", () => {
  it.live("creates, updates, searches, lists and removes keys, and replaces the access token", () =>
    Effect.gen(function* () {
      const { secrets, url } = yield* startServer()
      const rotated = yield* Effect.gen(function* () {
        const { rotateAccessToken, tokens, user } = yield* Account
        assert.strictEqual((yield* user).username, "owner")
        const at = DateTime.makeUnsafe("2100-01-01T00:00:00Z")
        const made = yield* tokens.create({
          name: "laptop",
          remainQuota: quota(7),
          expires: { _tag: "At", at },
          subnet: "127.0.0.0/8"
        })
        assert.match(Redacted.value(made.key), /^sk-\w{48}$/)
        const id = made.id ?? 0
        assert.isFalse((yield* tokens.disable(id)).enabled)
        const changed = yield* tokens.update(id, { name: "desk", remainQuota: quota(9), enabled: true })
        assert.deepInclude(changed, {
          name: "desk",
          remainQuota: quota(9),
          enabled: true,
          subnet: "127.0.0.0/8"
        })
        assert.deepStrictEqual(changed.expires, { _tag: "At", at })
        assert.isUndefined(changed.key)
        assert.match(changed.maskedKey ?? "", /^sk-\w{4}\*{10}\w{4}$/)

        const several = Array.from({ length: 120 }, (_, index) => `n${index}`)
        yield* Effect.forEach(several, (name) => tokens.create({ name, remainQuota: quota(0) }), {
          concurrency: 8
        })
        const listed = yield* Stream.runCollect(tokens.list)
        assert.sameMembers(
          [...listed].map(({ name }) => name),
          ["first", "desk", ...several]
        )
        yield* tokens.remove(id)
        assert.deepStrictEqual(yield* tokens.search("desk"), [])
        assert.strictEqual((yield* Effect.flip(tokens.get(id))).reason._tag, "NotFound")
        return yield* rotateAccessToken
      }).pipe(Effect.provide(account(url, secrets.accessToken)))

      const next = Option.getOrThrow(Option.fromUndefinedOr(rotated.accessToken))
      const user = Effect.flatMap(Account, ({ user }) => user)
      assert.strictEqual((yield* Effect.provide(user, account(url, Redacted.value(next)))).username, "owner")
      const ended = yield* Effect.flip(Effect.provide(user, account(url, secrets.accessToken)))
      assert.strictEqual(ended.reason._tag, "Unauthorized")
    }).pipe(Effect.scoped)
  )
})

const tokenIn = (printed: string): string => /sat-\w{48}/.exec(printed)?.[0] ?? ""
const urlIn = (printed: string): string => new URL(/http:\/\/\S+/.exec(printed)?.[0] ?? "").origin

describe("the process", () => {
  it.live(
    "keeps a key that was created just before it was killed, and locks its data folder while it runs",
    () =>
      Effect.gen(function* () {
        const data = yield* dataFolder
        const { ended, name, token } = yield* Effect.scoped(
          Effect.gen(function* () {
            const server = yield* startProcess({ SLUICE_DATA: data })
            const printed = yield* server.printed("The API key is for")
            const second = yield* startProcess({ SLUICE_DATA: data })
            const refused = yield* second.ended
            assert.strictEqual(refused.code, 1)
            assert.match(refused.stderr, /in use by another server.*SLUICE_DATA/)
            const token = tokenIn(printed)
            const create = Effect.flatMap(Account, ({ tokens }) =>
              tokens.create({ name: "survivor", remainQuota: quota(1) })
            )
            const { name } = yield* Effect.provide(create, account(urlIn(printed), token))
            return { ended: server.ended, name, token }
          })
        )
        // Closing the scope kills the process.
        assert.isNull((yield* ended).code)
        const printed = yield* (yield* startProcess({ SLUICE_DATA: data })).printed("Reference")
        const found = Effect.flatMap(Account, ({ tokens }) => tokens.search(name))
        assert.lengthOf(yield* Effect.provide(found, account(urlIn(printed), token)), 1)
      }).pipe(Effect.scoped)
  )
})
