/** Later pieces of a split table or CSV file are found and read with its header. */
import { assert, describe, it } from "@effect/vitest"
import { Reader } from "@sluice/core"
import type { CitedSentence } from "@sluice/core/models"
import { layer as modelsLayer } from "@sluice/embedded"
import type { Parsed } from "@sluice/rag/formats"
import { Effect, Layer, Stream } from "effect"
import { chunk } from "../../packages/rag/src/chunking/Chunker.ts"
import { parseHtml } from "../../packages/rag/src/formats/html/Html.ts"
import { parseMarkdown } from "../../packages/rag/src/formats/markdown/Markdown.ts"
import { parse } from "../../packages/rag/src/formats/ParsedFile.ts"
import { embeddedText } from "../../packages/rag/src/document/SearchText.ts"
import { library } from "./SmallLibrary.ts"

const lines = (count: number, line: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => line(i)).join("\n")

const CSV = `employee,department,salary\n${lines(200, (i) => `Person${i},${["sales", "ops"][i % 2]},${30_000 + i * 7}`)}`
const MARKDOWN = `# Fees\n\nTable 1: Fees by berth.\n\n| Berth | Winter fee |\n|---|---|\n${lines(120, (i) => `| Q${i} | ${50 + i} |`)}\n`

const headsOf = (parsed: Parsed) => {
  const passages = chunk(parsed)
  for (const { end, start, text } of passages) assert.strictEqual(parsed.text.slice(start, end), text)
  assert.isAbove(passages.length, 1)
  assert.isUndefined(passages[0]?.figure?.head)
  const heads = new Set(passages.slice(1).map(({ figure }) => figure?.head))
  assert.strictEqual(heads.size, 1)
  const [head] = heads
  assert.strictEqual(
    embeddedText("Title", { ...passages[1]!, headings: [] }),
    `Title\n${head}\n${passages[1]?.text}`
  )
  return head
}

describe("later pieces of a table", () => {
  it("have the caption and the header", () => {
    assert.strictEqual(
      headsOf(parseMarkdown(MARKDOWN)),
      "Table 1: Fees by berth.\n\n| Berth | Winter fee |\n|---|---|"
    )
    const rows = lines(120, (i) => `<tr><td>Q${i}</td><td>${50 + i} crowns</td></tr>`)
    const html = parseHtml(`<table><tr><th>Berth</th><th>Winter fee</th></tr>${rows}</table>`)
    assert.strictEqual(headsOf(html), "Berth | Winter fee")
  })

  it.effect("have the header of CSV and TSV files, below any title before it", () =>
    Effect.gen(function* () {
      const csv = (path: string, text: string) => parse({ path, bytes: new TextEncoder().encode(text) })
      const head = "employee | department | salary"
      assert.strictEqual(headsOf(yield* csv("people.csv", CSV)), head)
      assert.strictEqual(headsOf(yield* csv("people.tsv", CSV.replaceAll(",", "\t"))), head)
      const titled = yield* csv("people.csv", `Staff\n\n${CSV}`)
      assert.strictEqual(chunk(titled)[0]?.text, "Staff")
      assert.strictEqual(chunk(titled).at(-1)?.figure?.head, head)
      assert.deepStrictEqual((yield* csv("a.csv", "no cells\nat all")).figures, [])
    })
  )

  it.effect("answer questions about their rows by the column", () =>
    Effect.gen(function* () {
      const opened = yield* library({ "people.csv": CSV, "fees.md": MARKDOWN })
      for (const [question, quote, text] of [
        [
          "What is the salary of Person173?",
          "Person173 | ops | 31211",
          "employee: Person173 · department: ops · salary: 31211"
        ],
        [
          "What is the salary of Person3?",
          "Person3 | ops | 30021",
          "employee: Person3 · department: ops · salary: 30021"
        ],
        ["What is the winter fee of berth Q97?", "Q97 | 147", "Berth: Q97 · Winter fee: 147"]
      ] as const) {
        const { citations, sentences } = yield* opened.ask(question)
        assert.deepStrictEqual([sentences[0]?.text, citations[0]?.quote], [text, quote])
        const { parsed } = yield* opened.document(citations[0]!.documentId)
        assert.strictEqual(parsed.text.slice(citations[0]?.start, citations[0]?.end), quote)
      }
      const unknown = yield* opened.ask("What is the salary of Person999?")
      assert.isFalse(unknown.found)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("are quoted without the caption and header", () =>
    Effect.gen(function* () {
      const opened = yield* library({ "people.csv": CSV })
      const { citations, dropped } = yield* opened.ask("What is the salary of Person173?")
      assert.deepStrictEqual([dropped, citations.map(({ quote }) => quote)], [1, ["Person173 | ops | 31211"]])
    }).pipe(
      Effect.provide(
        Layer.merge(
          modelsLayer,
          Layer.succeed(
            Reader,
            Reader.of({
              model: { id: "scripted", kind: "generative" },
              read: (_, passages) => {
                const passage = passages.findIndex(({ text }) => text.includes("Person173"))
                const [header = ""] = passages[passage]?.text.split("\n") ?? []
                const saying = (...quotes: ReadonlyArray<string>): CitedSentence => ({
                  text: "It is 31211.",
                  evidence: quotes.map((quote) => ({ passage, quote }))
                })
                return Stream.make(saying(header, "Person173 | ops | 31211"), saying(header))
              }
            })
          )
        )
      ),
      Effect.scoped
    )
  )
})
