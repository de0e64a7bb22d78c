/** Counts, sums, averages and extremes of a column of a table: exact, with the rows as their source. */
import { assert, describe, it } from "@effect/vitest"
import { Reader } from "@sluice/core"
import * as Embedded from "@sluice/embedded"
import { NodeServices } from "@effect/platform-node"
import { Effect, Layer, Stream } from "effect"
import { columnNumbers } from "../../packages/rag/src/tables/ColumnNumbers.ts"
import { tableAnswer } from "../../packages/rag/src/tables/TableAnswer.ts"
import { MAX_CITED, recalledTables } from "../../packages/rag/src/tables/TableRows.ts"
import { library } from "./SmallLibrary.ts"
import { TABLES } from "./tableQuestions.ts"

const Models = Layer.mergeAll(Embedded.layer, NodeServices.layer)

describe("a question about a table", () => {
  it.effect("cites the row, or all rows", () =>
    Effect.gen(function* () {
      const opened = yield* library(TABLES)
      const highest = yield* opened.ask("Which lock has the highest height?")
      assert.deepStrictEqual(
        highest.citations.map(({ quote }) => quote),
        ["| Lower | 4.05 | 210 | 1870-03-30 |"]
      )
      const sum = yield* opened.ask("What is the sum of Crew in boats.csv?")
      for (const boat of ["Heron", "Otter", "Swan", "Gull"]) assert.include(sum.citations[0]?.quote, boat)
      const asked = ["What's the average Price in boats.csv?", "重量的总和是多少？"]
      const answers = yield* Effect.forEach(asked, (question) => opened.ask(question))
      const texts = answers.map(({ sentences }) => sentences[0]?.text)
      assert.deepStrictEqual(texts, ["Average · Price: $4287.5.", "总和 · 重量（吨）：150。"])
    }).pipe(Effect.scoped, Effect.provide(Models))
  )

  it.effect("is not read by a chat model, nor verified", () =>
    Effect.gen(function* () {
      const answer = yield* (yield* library(TABLES)).ask("What is the sum of Crew in boats.csv?")
      assert.strictEqual(answer.answer, "Sum · Crew: 20. [1]")
      assert.strictEqual(answer.unsupported, 0)
    }).pipe(
      Effect.scoped,
      Effect.provide(
        Layer.mergeAll(
          Models,
          Embedded.layerVerifier,
          Layer.succeed(
            Reader,
            Reader.of({ model: { id: "unread", kind: "generative" }, read: () => Stream.die("read") })
          )
        )
      )
    )
  )
})

describe("a table that is made to take much time", () => {
  it("with a number of thousands of decimals, to which all would be filled up, has no numbers", () => {
    assert.isDefined(columnNumbers(["1.25 crowns", "2.5 crowns"]))
    assert.isUndefined(columnNumbers([`1.${"3".repeat(5_000)}`, "2"]))
  })

  /** The tables of a question, as a library with one document has them. Counts how often the document is read again. */
  const askWith = (passages: number, header: ReadonlyArray<string>, pieces = 1, most = MAX_CITED) =>
    Effect.gen(function* () {
      const info = { id: "d", path: "a.csv", title: "", passages }
      const figure = { kind: "table", start: 0, end: 9, rows: [header, header.map((_, i) => `${i + 1}`)] }
      const text = "length | 1"
      const piecesOfTable = Array.from({ length: pieces }, (_, i) => ({
        document: info,
        ordinal: i + 1,
        start: 0,
        end: 9,
        headings: [],
        text,
        figure: { kind: "table", ...(i > 0 && { head: text }) }
      }))
      const passage = piecesOfTable.at(-1)
      const other = { ...piecesOfTable[0], ordinal: pieces + 1, start: 10, end: 19 }
      let read = 0
      const collection = {
        document: () => Effect.succeed({ info }),
        passages: () => Effect.succeed([...piecesOfTable, other])
      }
      const tables = yield* recalledTables(
        { trace: { passages: [{ passage }] } } as never,
        collection as never,
        () => Effect.sync(() => (read++, { info, parsed: { figures: [figure] } }) as never),
        most
      )
      return { read, text: tableAnswer("What is the sum of the length?", tables)?.sentences[0]?.text }
    })

  it.effect("in a document of thousands of passages is not read again", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* askWith(2_000, ["name", "length"]), { read: 1, text: "Sum · length: 2." })
      assert.deepStrictEqual(yield* askWith(2_001, ["name", "length"]), { read: 0, text: undefined })
    })
  )

  it.effect("in more pieces than are cited is read again only for SQL", () =>
    Effect.gen(function* () {
      const header = ["name", "length"]
      assert.deepStrictEqual(yield* askWith(20, header, 20), { read: 1, text: "Sum · length: 2." })
      assert.deepStrictEqual(yield* askWith(21, header, 21), { read: 0, text: undefined })
      assert.deepStrictEqual(yield* askWith(21, header, 21, Infinity), { read: 1, text: undefined })
    })
  )

  it.effect("with more than 200 columns has none that is named", () =>
    Effect.gen(function* () {
      const columns = (count: number) => ["length", ...Array.from({ length: count - 1 }, (_, i) => `c${i}`)]
      assert.strictEqual((yield* askWith(1, columns(200))).text, "Sum · length: 1.")
      assert.isUndefined((yield* askWith(1, columns(201))).text)
    })
  )
})
