/** The limit of questions that run at the same time. */
import { assert, it } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import * as Embedded from "@sluice/embedded"
import { ConfigProvider, Effect, Layer, Result, Stream } from "effect"
import { ServerConfig } from "../../apps/demo-server/src/config/ServerConfig.ts"
import { ragFailure } from "../../apps/demo-server/src/libraries/RagFailure.ts"
import { RunningQuestions } from "../../apps/demo-server/src/libraries/RunningQuestions.ts"
import { library } from "../rag/SmallLibrary.ts"
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

const Limited = RunningQuestions.layer.pipe(
  Layer.provide(ServerConfig.layer),
  Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ SLUICE_QUESTIONS: "2" }))),
  Layer.provideMerge(Layer.mergeAll(Embedded.layer, NodeServices.layer))
)

it.live("questions that were let in at the same time do not pass the limit either", () =>
  Effect.gen(function* () {
    const { limit } = yield* RunningQuestions
    const open = yield* library({ "heron.md": "The heron waits at the lock." })
    const burst = yield* Effect.all(Array.from({ length: 10 }, () => limit(open)))
    const question = "Where does the heron wait?"
    const results = yield* Effect.forEach(
      burst,
      (library, i) =>
        Effect.result(i % 2 === 0 ? library.ask(question) : Stream.runDrain(library.askEvents(question))),
      { concurrency: "unbounded" }
    )
    const refused = results.filter(Result.isFailure).map(({ failure }) => ragFailure(failure).code)
    assert.deepStrictEqual(
      refused,
      Array.from({ length: 8 }, () => "too_many_questions")
    )
    yield* (yield* limit(open)).ask(question)
  }).pipe(Effect.provide(Limited), Effect.scoped)
)
