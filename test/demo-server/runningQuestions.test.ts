/** The limit of questions that run at the same time. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { errorOf, filesOf, startServer } from "./TestServer.ts"

it.live.each(["/qa", "/retrieve", "/v1/chat/completions"])(
  "questions above the limit get 503 with retry-after, and later ones are answered: %s",
  (path) =>
    Effect.gen(function* () {
      const { call } = yield* startServer({ env: { SLUICE_QUESTIONS: "1" } })
      const question = "Where does the heron wait?"
      yield* call("/documents", {
        body: filesOf({ "heron.md": "# Heron\n\nThe heron waits at the lock.\n" })
      })
      const json = path.startsWith("/v1")
        ? { model: "sluice/default", messages: [{ role: "user", content: question }] }
        : { question }
      const answers = yield* Effect.forEach(Array.from({ length: 20 }), () => call(path, { json }), {
        concurrency: 20
      })
      assert.includeMembers(
        [200, 503],
        answers.map(({ status }) => status)
      )
      const refused = answers.find(({ status }) => status === 503)
      assert.isDefined(refused)
      assert.isTrue(answers.some(({ status }) => status === 200))
      assert.strictEqual(refused?.headers.get("retry-after"), "1")
      assert.include((yield* errorOf(refused!)).message, "as many questions as it can")
      assert.strictEqual((yield* call(path, { json })).status, 200)
    }).pipe(Effect.scoped)
)
