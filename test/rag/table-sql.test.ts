/** SQL that a chat model writes over tables: exact, with the rows as its source, and nothing else can be reached. */
import { assert, describe, it } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import * as Embedded from "@sluice/embedded"
import { Effect, Fiber, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { findDuck, runSql } from "../../packages/rag/src/tables/Duck.ts"
import { type Behaviour, delta, events, LoopbackGateway } from "../core/LoopbackGateway.ts"
import { layerSqlModel, measureTables, openTables, writesSql } from "../qa/tables/TableModels.ts"
import { tableQuestions } from "../qa/tables/TableQuestions.ts"

const Models = Layer.mergeAll(Embedded.layer, NodeServices.layer)

const withModel = (behaviour?: Behaviour) => Effect.provide(Layer.merge(Models, layerSqlModel(behaviour)))

const QUESTION = "How many boats are longer than 12 m?"

/** Asks one question of a model that writes this SQL, whatever it is told. */
const ask = (sql: string | null, question = QUESTION) =>
  Effect.gen(function* () {
    const answer = yield* (yield* openTables).ask(question)
    const { seen } = yield* LoopbackGateway
    const { stages } = answer.trace
    return { answer, stage: stages.find(({ stage }) => stage === "calculate"), calls: seen.length, seen }
  }).pipe(Effect.scoped, withModel(writesSql(sql)))

describe("SQL of a chat model over tables", () => {
  it.live("answers conditions, groups and joins exactly", () =>
    Effect.gen(function* () {
      const questions = tableQuestions().filter((_, i) => i % 9 === 0)
      const { calculated, wrong } = yield* measureTables(yield* openTables, questions)
      assert.deepStrictEqual(wrong, [])
      assert.strictEqual(calculated.length, questions.length)
    }).pipe(Effect.scoped, withModel())
  )

  it.live("cites the rows of each row of the result", () =>
    Effect.gen(function* () {
      const library = yield* openTables
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
    }).pipe(Effect.scoped, withModel())
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
    it.live(`${name} is refused, once more asked for, and the question is read as usual`, () =>
      Effect.gen(function* () {
        const { answer, calls, seen, stage } = yield* ask(sql)
        assert.strictEqual(calls, 2)
        assert.include(seen[1]?.body.messages.at(-1)?.content, "This could not be run")
        assert.isString(stage?.failed)
        assert.strictEqual(stage?.sql, sql)
        assert.isTrue(answer.trace.stages.some(({ stage }) => stage === "read"))
      })
    )

  it.live("that is corrected is the answer", () =>
    Effect.gen(function* () {
      const answer = yield* (yield* openTables).ask(QUESTION)
      assert.strictEqual(answer.sentences[0]?.text, "boats: 4.")
    }).pipe(
      Effect.scoped,
      withModel((seen, response, nth) =>
        writesSql(
          nth === 0
            ? "SELECT cout(*) FROM boats_csv"
            : "SELECT count(*) AS boats FROM boats_csv WHERE length_m > 12"
        )(seen, response, nth)
      )
    )
  )

  it.live("is not asked for where nothing is to be calculated", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* ask("SELECT 1", "What is the colour of the Heron?")).calls, 0)
    })
  )

  it.live("may be none: the question is read", () =>
    Effect.gen(function* () {
      const { answer, calls, stage } = yield* ask(null)
      assert.strictEqual(calls, 1)
      assert.isUndefined(stage?.failed)
      assert.isTrue(answer.trace.stages.some(({ stage }) => stage === "read"))
    })
  )

  it.live("of a small model may be in a code block", () =>
    Effect.gen(function* () {
      const answer = yield* (yield* openTables).ask(QUESTION)
      assert.strictEqual(answer.sentences[0]?.text, "boats: 4.")
    }).pipe(
      Effect.scoped,
      withModel((_, response) =>
        events(response, [
          delta("Here it is:\n```sql\nSELECT count(*) AS boats FROM boats_csv WHERE length_m > 12;\n```"),
          { choices: [{ delta: {}, finish_reason: "stop" }] },
          "[DONE]"
        ])
      )
    )
  )

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
