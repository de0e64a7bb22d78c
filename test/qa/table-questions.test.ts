/** A hundred questions about tables of many formats: counts, sums, extremes, averages, conditions, groups and joins. */
import { assert, describe, it } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import * as Embedded from "@sluice/embedded"
import { Library } from "@sluice/rag"
import { Effect, Layer } from "effect"
import { testFolder } from "../rag/TestFolder.ts"
import { tableDocuments } from "./tables/TableDocuments.ts"
import { isCalculated, isExact, tableQuestions } from "./tables/TableQuestions.ts"

const Models = Layer.mergeAll(Embedded.layer, NodeServices.layer)

/** Without a chat model: one column, without conditions. */
const LEAST_CALCULATED = 35

const openTables = Effect.gen(function* () {
  const { library: at } = yield* testFolder
  const opened = yield* Library.open(at)
  yield* opened.ingest({ files: Object.entries(tableDocuments()).map(([path, bytes]) => ({ path, bytes })) })
  return opened
})

describe("a hundred questions about tables", () => {
  it.effect("are calculated without a model if they are about one column, and then exactly", () =>
    Effect.gen(function* () {
      const questions = tableQuestions()
      assert.strictEqual(questions.length, 100)
      const opened = yield* openTables
      const results = yield* Effect.forEach(questions, (one) =>
        Effect.map(opened.ask(one.question), (answer) => ({ ...one, answer }))
      )
      const calculated = results.filter(({ answer }) => isCalculated(answer))
      const wrong = calculated.filter(({ answer, rows }) => !isExact(answer, rows))
      assert.deepStrictEqual(
        wrong.map(({ answer, question }) => `${question} ${answer.answer}`),
        []
      )
      assert.isAtLeast(calculated.length, LEAST_CALCULATED)
    }).pipe(Effect.scoped, Effect.provide(Models))
  )
})
