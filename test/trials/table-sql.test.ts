/** SQL that a chat model writes over tables: exact, with the rows as its source, and nothing else can be reached. */
import { assert, describe, it, layer } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import * as Embedded from "@sluice/embedded"
import { Context, Effect, Fiber, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import type { LibraryService } from "@sluice/rag"
import { findDuck, runSql } from "../../packages/rag/src/tables/Duck.ts"
import { type Behaviour, delta, events, LoopbackGateway } from "../core/LoopbackGateway.ts"
import {
  layerSqlModel,
  measureTables,
  openTables,
  scriptedModel,
  writesSql
} from "../qa/tables/TableModels.ts"
import { tableQuestions } from "../qa/tables/TableQuestions.ts"

/** The library of the tables, once for all tests: they only read it. */
class Tables extends Context.Service<Tables, LibraryService>()("test/rag/Tables") {}

const Shared = Layer.effect(Tables, openTables).pipe(
  Layer.provideMerge(Layer.mergeAll(Embedded.layer, NodeServices.layer, layerSqlModel()))
)

const QUESTION = "How many boats are longer than 12 m?"

/** Asks one question of a model that writes this SQL, whatever it is told. */
const ask = Effect.fnUntraced(function* (behaviour: Behaviour, question = QUESTION) {
  const { behave, seen } = yield* LoopbackGateway
  behave(behaviour)
  const answer = yield* (yield* Tables).ask(question)
  const { stages } = answer.trace
  return { answer, stage: stages.find(({ stage }) => stage === "calculate"), calls: seen.length, seen }
})

layer(Shared, { excludeTestServices: true })("SQL of a chat model over tables", (it) => {
  it.effect("answers conditions, groups and joins exactly", () =>
    Effect.gen(function* () {
      const questions = tableQuestions().filter((_, i) => i % 9 === 0)
      const { behave } = yield* LoopbackGateway
      behave(scriptedModel)
      const { calculated, wrong } = yield* measureTables(yield* Tables, questions)
      assert.deepStrictEqual(wrong, [])
      assert.strictEqual(calculated.length, questions.length)
    })
  )

  it.effect("cites the rows of each row of the result", () =>
    Effect.gen(function* () {
      const { behave } = yield* LoopbackGateway
      behave(scriptedModel)
      const library = yield* Tables
      const quotesOf = (question: string) =>
        Effect.map(library.ask(question), ({ citations, sentences }) =>
          sentences.map(({ citations: numbers, text }) => [
            text,
            ...citations.flatMap(({ n, quote }) => (numbers.includes(n) ? [quote] : []))
          ])
        )
      const before = yield* quotesOf("Which boats were built before 1980?")
      const groups = yield* quotesOf("How many boats does each home port have?")
      assert.deepStrictEqual(before, [
        ["- boat: Swan · built: 1962.", "Swan | 31.0 | 11 | $14,300 | 1962 | Corin"],
        ["- boat: Pike · built: 1975.", "Pike | 18.0 | 6 | $5,450 | 1975 | Dorn"]
      ])
      assert.deepStrictEqual(groups[0], [
        "- home port: Alba · boats: 2.",
        "Heron | 12.5 | 4 | $1,200 | 1987 | Alba",
        "Gull | 9.25 | 3 | $700 | 1999 | Alba"
      ])
      assert.strictEqual(groups.length, 4)
    })
  )

  for (const [name, sql] of [
    ["a file", "SELECT * FROM read_csv('/etc/passwd')"],
    ["a file as a table", "SELECT * FROM '/etc/passwd'"],
    ["a write", "DELETE FROM boats_csv"],
    ["a file to write", "COPY boats_csv TO '/tmp/boats.csv'"],
    ["a setting", "SET enable_external_access = true"],
    ["two statements", "SELECT count(*) FROM boats_csv; DROP TABLE boats_csv"],
    ["the catalog", "SELECT * FROM duckdb_settings"],
    ["a function that makes rows", "SELECT count(*) FROM range(10)"],
    ["a function that makes text", "SELECT repeat(boat, 1000000000) FROM boats_csv"],
    ["a recursion", "WITH RECURSIVE r AS (SELECT 1 x UNION ALL SELECT x + 1 FROM r) SELECT count(*) FROM r"],
    ["more rows than an answer has", "SELECT a.boat FROM boats_csv a, boats_csv b, boats_csv c"]
  ] as const)
    it.effect(`${name} is refused, once more asked for, and the question is read as usual`, () =>
      Effect.gen(function* () {
        const { answer, calls, seen, stage } = yield* ask(writesSql(sql))
        assert.strictEqual(calls, 2)
        assert.include(seen[1]?.body.messages.at(-1)?.content, "This could not be run")
        assert.isString(stage?.failed)
        assert.strictEqual(stage?.sql, sql)
        assert.isTrue(answer.trace.stages.some(({ stage }) => stage === "read"))
      })
    )

  it.effect("that is corrected is the answer", () =>
    Effect.gen(function* () {
      const { answer } = yield* ask((seen, response, nth) =>
        writesSql(
          nth === 0
            ? "SELECT cout(*) FROM boats_csv"
            : "SELECT count(*) AS boats FROM boats_csv WHERE length_m > 12"
        )(seen, response, nth)
      )
      assert.strictEqual(answer.sentences[0]?.text, "boats: 4.")
    })
  )

  it.effect("is not asked for where nothing is to be calculated", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* ask(writesSql("SELECT 1"), "What is the colour of the Heron?")).calls, 0)
    })
  )

  it.effect("may be none: the question is read", () =>
    Effect.gen(function* () {
      const { answer, calls, stage } = yield* ask(writesSql(null))
      assert.strictEqual(calls, 1)
      assert.isUndefined(stage?.failed)
      assert.isTrue(answer.trace.stages.some(({ stage }) => stage === "read"))
    })
  )

  it.effect("may leave its count without a name", () =>
    Effect.gen(function* () {
      const { answer } = yield* ask(writesSql("SELECT count(*) FROM boats_csv WHERE length_m > 12"))
      assert.strictEqual(answer.sentences[0]?.text, "count: 4.")
    })
  )

  it.effect("of a small model may be in a code block", () =>
    Effect.gen(function* () {
      const { answer } = yield* ask((_, response) =>
        events(response, [
          delta("Here it is:\n```sql\nSELECT count(*) AS boats FROM boats_csv WHERE length_m > 12;\n```"),
          { choices: [{ delta: {}, finish_reason: "stop" }] },
          "[DONE]"
        ])
      )
      assert.strictEqual(answer.sentences[0]?.text, "boats: 4.")
    })
  )
})

describe("SQL over tables", () => {
  it.effect("ends after some seconds", () =>
    Effect.gen(function* () {
      const duck = Option.getOrThrow(yield* findDuck)
      const rows = Array.from({ length: 1_000 }, (_, i) => [String(i)])
      const table = { name: "n", columns: [{ name: "i", type: "DECIMAL(38, 0)" }], rows }
      const running = yield* Effect.forkChild(
        Effect.result(runSql(duck, [table], "SELECT sum(a.i * b.i * c.i * d.i) FROM n a, n b, n c, n d"))
      )
      yield* TestClock.adjust("6 seconds")
      const result = yield* Fiber.join(running)
      assert.include(result._tag === "Failure" ? result.failure.message : "", "longer than 5 seconds")
    })
  )
})
