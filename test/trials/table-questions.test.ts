/** A hundred questions about tables of many formats: counts, sums, extremes, averages, conditions, groups and joins. */
import { assert, describe, it } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import * as Embedded from "@sluice/embedded"
import { Effect, Layer } from "effect"
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
