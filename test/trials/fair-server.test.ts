/** A question of another user while one user's large calls take all of that user's threads. */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { bearer, MadeKey, MadeUser } from "../demo-server/AccountCalls.ts"
import { filesOf, startServer } from "../demo-server/TestServer.ts"

/** Distinct words: their comparison with every document takes more than a second. */
const words = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => `w${(i + from).toString(36)}`).join(" ")

it.live(
  "is answered before them",
  () =>
    Effect.gen(function* () {
      const { call, json } = yield* startServer()
      const user = yield* json(MadeUser, "/api/user/", {
        as: "token",
        json: { username: "anna", quota: 50_000 }
      })
      const made = yield* json(MadeKey, "/api/token/", {
        ...bearer(user.data.access_token),
        json: { name: "k", expired_time: -1, remain_quota: 50_000, subnet: "" }
      })
      const anna = bearer(made.data.key)
      yield* call("/documents", { ...anna, body: filesOf({ "a.md": "# Gate\n\nThe toll is four crowns." }) })

      const documents = Array.from({ length: 500 }, (_, i) => words(600, i))
      const rank = call("/v1/rerank", {
        json: { model: "sluice-lexical-rerank", query: words(2_000), documents }
      })
      const ended: Array<string> = []
      const noted = <A, E>(name: string, effect: Effect.Effect<A, E>) =>
        Effect.tap(effect, () => Effect.sync(() => ended.push(name)))
      const monsters = yield* Effect.forEach([1, 2, 3, 4], () => Effect.forkChild(noted("monster", rank)))
      yield* Effect.sleep("300 millis")
      const asked = call("/qa", { ...anna, json: { question: "What is the toll?" } })
      const response = yield* noted("question", asked)
      assert.strictEqual(response.status, 200)
      assert.include(yield* Effect.promise(() => response.text()), "four crowns")
      for (const monster of monsters) assert.strictEqual((yield* Fiber.join(monster)).status, 200)
      assert.isBelow(ended.indexOf("question"), 3, ended.join(" "))
    }).pipe(Effect.scoped),
  60_000
)
