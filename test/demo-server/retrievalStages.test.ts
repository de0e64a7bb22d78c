/** A retrieval stage that a program registers is one whose options and trace pass through its server. */
import { assert, layer } from "@effect/vitest"
import { type RetrievalStage, RetrievalStages, stageOption, STAGES } from "@sluice/rag/retrieval"
import { Effect, Layer, Schema } from "effect"
import { AnswerBody } from "../../apps/demo-server/src/contract/index.ts"
import { filesOf, testServer, TestServer } from "./TestServer.ts"

/** Notes the place of each candidate, when it is asked to. */
const noteStage: RetrievalStage = {
  name: "note",
  options: { note: stageOption(Schema.Boolean, "true or false") },
  run: ({ candidates, options }) =>
    Effect.succeed(
      Reflect.get(options, "note") === true
        ? { candidates: candidates.map((one, i) => ({ ...one, places: { note: { rank: i + 1 } } })) }
        : undefined
    )
}

const stages = Layer.succeed(RetrievalStages, [...STAGES, noteStage])
const question = "How much does mooring a boat overnight cost?"

layer(Layer.provide(testServer(), stages), { excludeTestServices: true })("a registered stage", (it) => {
  it.effect("takes its options from the request and appears in the trace of the response", () =>
    Effect.gen(function* () {
      const { call, json } = yield* TestServer
      yield* call("/documents", {
        body: filesOf({ "fees.md": "# Fees\n\nMooring a boat overnight costs twelve crowns.\n" })
      })
      const { trace } = yield* json(AnswerBody, "/qa", { json: { question, options: { note: true } } })
      assert.isTrue(trace.stages.some(({ stage }) => stage === "note"))
      assert.deepStrictEqual(trace.passages[0]?.places, { note: { rank: 1 } })
      const usual = yield* json(AnswerBody, "/qa", { json: { question } })
      assert.isFalse(usual.trace.stages.some(({ stage }) => stage === "note"))
    })
  )

  it.effect("rejects an option of no stage, and fields of the request", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      for (const options of [{ notes: true }, { note: 1 }, { recall: 3 }]) {
        const response = yield* call("/qa", { json: { question, options } })
        assert.strictEqual(response.status, 400)
        const text = yield* Effect.promise(() => response.text())
        if ("notes" in options) assert.match(text, /Not an option\. Options: .*\bnote\b/)
      }
    })
  )
})
