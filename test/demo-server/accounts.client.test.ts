/** The typed client against a running server. */
import { assert, describe, it } from "@effect/vitest"
import { Account, quota, systemAccessToken } from "@sluice/core"
import { AccountClient } from "@sluice/core/client"
import { DateTime, Effect, Option, Redacted, Stream } from "effect"
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
