/** Conversations with a library: follow-ups are completed, by a model or by words, and the answer says so. */
import { assert, describe, it } from "@effect/vitest"
import { GatewayError, InvalidResponse, QuestionRewriter } from "@sluice/core"
import * as Embedded from "@sluice/embedded"
import { NodeServices } from "@effect/platform-node"
import { Effect, Layer, Stream } from "effect"
import { library } from "./SmallLibrary.ts"

const FILES = {
  "weir.md": "# The weir\n\nThe weir is 31 metres wide.\n\nThe weir was built in 1871 by Ida Thornbury.",
  "mill.md": "# The mill\n\nThe mill is 12 metres high.\n\nThe mill was built in 1790."
}

/** Rewrites by a table, and keeps what it is asked. */
const rewriter = (asked: Array<string>, table: Record<string, string>) =>
  Layer.succeed(
    QuestionRewriter,
    QuestionRewriter.of({
      model: { id: "scripted" },
      rewrite: (question) => {
        asked.push(question)
        const rewritten = table[question]
        return rewritten === undefined
          ? Effect.fail(
              new GatewayError({
                operation: "chat",
                model: "scripted",
                reason: new InvalidResponse({ message: "no question" })
              })
            )
          : Effect.succeed({ question: rewritten, tokens: 7 })
      }
    })
  )

const Models = Layer.mergeAll(Embedded.layer, NodeServices.layer)

describe("a conversation", () => {
  it.effect("carries the subject without a model, and says so", () =>
    Effect.gen(function* () {
      const chat = yield* (yield* library(FILES)).conversation()
      const first = yield* chat.ask("How wide is the weir?")
      assert.isUndefined(first.standalone)
      const second = yield* chat.ask("And when was it built?")
      assert.deepStrictEqual(second.standalone, { question: "When was the weir built?", by: "carried" })
      assert.strictEqual(second.question, "And when was it built?")
      assert.strictEqual(second.trace.question, "When was the weir built?")
      assert.include(second.answer, "1871")
      const turns = yield* chat.turns
      assert.deepStrictEqual(
        turns.map(({ standalone }) => standalone),
        [undefined, "When was the weir built?"]
      )
    }).pipe(Effect.scoped, Effect.provide(Models))
  )

  it.effect("asks a model only for follow-ups, and the trace has its stage", () => {
    const asked: Array<string> = []
    return Effect.gen(function* () {
      const chat = yield* (yield* library(FILES)).conversation()
      yield* chat.ask("How wide is the weir?")
      yield* chat.ask("How high is the mill?")
      assert.deepStrictEqual(asked, [])
      const events = yield* Stream.runCollect(chat.askEvents("And when was it built?"))
      assert.deepStrictEqual(asked, ["And when was it built?"])
      assert.deepStrictEqual(
        events.slice(0, 2).map(({ type }) => type),
        ["standalone", "stage"]
      )
      const last = events.at(-1)
      assert.strictEqual(last?.type, "answer")
      if (last?.type !== "answer") return
      assert.include(last.answer.answer, "1790")
      assert.deepInclude(last.answer.standalone, { by: "model" })
      assert.deepInclude(last.answer.trace.stages[0], { stage: "rewrite", tokens: 7 })
      assert.strictEqual(last.answer.trace.rewriterModel, "scripted")
    }).pipe(
      Effect.scoped,
      Effect.provide(
        Layer.merge(Models, rewriter(asked, { "And when was it built?": "When was the mill built?" }))
      )
    )
  })

  it.effect("carries the subject if the model fails, and the stage says why", () =>
    Effect.gen(function* () {
      const { ask } = yield* library(FILES)
      const answer = yield* ask("When was it built?", { history: [{ question: "How wide is the weir?" }] })
      assert.deepInclude(answer.standalone, { by: "carried" })
      assert.include(answer.trace.stages[0]?.failed ?? "", "no question")
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(Models, rewriter([], {}))))
  )

  it.effect("understands a question as its caller says", () =>
    Effect.gen(function* () {
      const { ask } = yield* library(FILES)
      const answer = yield* ask("And that?", { standalone: "How high is the mill?" })
      assert.deepStrictEqual(answer.standalone, { question: "How high is the mill?", by: "caller" })
      assert.include(answer.answer, "12 metres")
    }).pipe(Effect.scoped, Effect.provide(Models))
  )
})
