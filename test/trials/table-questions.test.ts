/** A hundred questions about tables of many formats: counts, sums, extremes, averages, conditions, groups and joins. */
import { assert, describe, it } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import * as Embedded from "@sluice/embedded"
import { Effect, Layer } from "effect"
import { library } from "../rag/SmallLibrary.ts"
import { TABLE_QUESTIONS, TABLES } from "../rag/tableQuestions.ts"
import { layerSqlModel, measureTables, openTables } from "../qa/tables/TableModels.ts"
import { tableQuestions } from "../qa/tables/TableQuestions.ts"

const Models = Layer.mergeAll(Embedded.layer, NodeServices.layer)

describe("a hundred questions about tables", () => {
  it.live("are calculated without a model if they are about one column, and then exactly", () =>
    Effect.gen(function* () {
      const questions = tableQuestions()
      assert.strictEqual(questions.length, 100)
      const { calculated, wrong } = yield* measureTables(yield* openTables, questions)
      assert.deepStrictEqual(wrong, [])
      assert.isAtLeast(calculated.length, 35)
    }).pipe(Effect.scoped, Effect.provide(Models))
  )

  it.live("are calculated by SQL of a chat model, exactly", () =>
    Effect.gen(function* () {
      const { calculated, wrong } = yield* measureTables(yield* openTables, tableQuestions())
      const known = new Set(calculated.map(({ question }) => question))
      const missed = tableQuestions().filter(({ question }) => !known.has(question))
      assert.deepStrictEqual(wrong, [])
      assert.isAtLeast(calculated.length, 95, missed.map(({ question }) => question).join("\n"))
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(Models, layerSqlModel())))
  )
})

/** The share of the questions that are calculated must not fall below it. */
const LEAST_ANSWERED = 0.8

describe("a question about a table", () => {
  it.effect("is calculated exactly, or not at all", () =>
    Effect.gen(function* () {
      const opened = yield* library(TABLES)
      const results = yield* Effect.forEach(TABLE_QUESTIONS, ([question, expected]) =>
        Effect.map(opened.ask(question), (answer) => {
          const isCalculated = answer.trace.stages.some(({ stage }) => stage === "calculate")
          const value = answer.sentences[0]?.text ?? ""
          return { question, expected, value, isCalculated }
        })
      )
      const calculated = results.filter(({ isCalculated }) => isCalculated)
      const wrong = calculated.filter(
        ({ expected, value }) =>
          expected === undefined ||
          !new RegExp(`(?<![\\d.,])${expected.replace(/[.$]/g, "\\$&")}(?![\\d]|[.,]\\d)`).test(value)
      )
      assert.deepStrictEqual(wrong, [])
      const answerable = results.filter(({ expected }) => expected !== undefined)
      const missed = answerable.filter(({ isCalculated }) => !isCalculated)
      assert.isAtMost(
        missed.length,
        Math.floor(answerable.length * (1 - LEAST_ANSWERED)),
        missed.map(({ question }) => question).join("\n")
      )
    }).pipe(Effect.scoped, Effect.provide(Models))
  )
})
