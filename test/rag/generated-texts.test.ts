/** The stages `hyde` and `queries`: texts of a chat model are searched besides the question. */
import { assert, describe, it } from "@effect/vitest"
import { apiKey, GatewayRewriter, type QuestionRewriter } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import * as Embedded from "@sluice/embedded"
import { Fusion } from "@sluice/rag"
import { NodeServices } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { type Behaviour, delta, events, LoopbackGateway } from "../core/LoopbackGateway.ts"
import { library, pathsOf } from "./SmallLibrary.ts"

const FILES = {
  "tyre.md": "# Flat tyre\n\nA flat tyre is mended with a rubber patch.",
  "bell.md": "# The bell\n\nThe bell of a bicycle is fixed with a screw.",
  "lamp.md": "# The lamp\n\nThe lamp of a bicycle runs on a dynamo.",
  "saddle.md": "# The saddle\n\nThe saddle of a bicycle is fixed with a clamp."
}
const QUESTION = "How is a puncture of a bicycle fixed?"
const WORDING = "How is a flat tyre mended with a patch?"

/** A gateway whose chat model writes these texts. */
const Writes = (text: string): Layer.Layer<QuestionRewriter | LoopbackGateway> =>
  Layer.unwrap(
    Effect.map(LoopbackGateway, ({ behave, url: baseUrl }) => {
      const says: Behaviour = (_, response) =>
        events(response, [delta(text), { choices: [{ delta: {}, finish_reason: "stop" }] }, "[DONE]"])
      behave(says)
      return Layer.provide(
        GatewayRewriter.layer({ model: "c" }),
        GatewayClient.layer({ baseUrl, apiKey: apiKey("k") })
      )
    })
  ).pipe(Layer.provideMerge(LoopbackGateway.layer), Layer.orDie)

const Models = Layer.mergeAll(Embedded.layer, NodeServices.layer)
const texts = JSON.stringify({ texts: [WORDING, "What else?"] })
const first = { recall: 1, keep: 1, candidates: 1 }

describe("texts of a chat model", () => {
  it.live("are searched only if an option asks for them, with one call", () =>
    Effect.gen(function* () {
      const opened = yield* library(FILES)
      const { seen } = yield* LoopbackGateway
      const usual = yield* opened.retrieve(QUESTION, first)
      assert.notDeepEqual(pathsOf(usual), ["tyre.md"])
      assert.strictEqual(seen.length, 0)
      for (const options of [
        { queries: 1 },
        { queries: 1, fusion: Fusion.keywords },
        { queries: 1, fusion: Fusion.dense },
        { hyde: true, fusion: Fusion.dense }
      ]) {
        const before = seen.length
        const { trace } = yield* opened.retrieve(QUESTION, { ...first, candidates: 2, recall: 2, ...options })
        assert.include(
          trace.passages.map(({ passage }) => passage.document.path),
          "tyre.md",
          JSON.stringify(options)
        )
        assert.strictEqual(seen.length - before, 1)
        const stage = trace.stages.find(({ texts }) => texts !== undefined)
        assert.deepStrictEqual(stage?.texts, [WORDING])
        assert.strictEqual(stage?.stage, "hyde" in options ? "hyde" : "queries")
      }
      const { document } = usual.kept[0]!
      const why = yield* opened.why(document.id, QUESTION, { queries: 2 })
      assert.deepStrictEqual(why.generated, [WORDING, "What else?"])
      assert.isUndefined((yield* opened.why(document.id, QUESTION)).generated)
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(Models, Writes(texts))))
  )

  it.live.each(["No.", "{}", '{"texts":[]}'])(
    "are missing if the model writes %s, and the trace says so",
    (text) =>
      Effect.gen(function* () {
        const opened = yield* library(FILES)
        const usual = yield* opened.retrieve(QUESTION)
        const { kept, trace } = yield* opened.retrieve(QUESTION, { hyde: true, queries: 2 })
        assert.deepStrictEqual(kept, usual.kept)
        const failed = trace.stages.flatMap(({ failed, stage }) => (failed === undefined ? [] : [stage]))
        assert.deepStrictEqual(failed, ["hyde", "queries"])
      }).pipe(Effect.scoped, Effect.provide(Layer.merge(Models, Writes(text))))
  )

  it.effect("are missing without a chat model or in time, and a wrong number is refused", () =>
    Effect.gen(function* () {
      const opened = yield* library(FILES)
      const { trace } = yield* opened.retrieve(QUESTION, { queries: 2 })
      assert.deepInclude(
        trace.stages.find(({ stage }) => stage === "queries"),
        { failed: "No chat model is configured: only the question was searched." }
      )
      const error = yield* Effect.flip(opened.retrieve(QUESTION, { queries: 5 }))
      assert.include(error.message, "from 0 to 4")
    }).pipe(Effect.scoped, Effect.provide(Models))
  )
})
