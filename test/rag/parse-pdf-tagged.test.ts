/** Headings and alternative texts from the tags of a PDF. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { parse } from "../../packages/rag/src/formats/ParsedFile.ts"
import { writePdf } from "./PdfWriter.ts"

// Printed by Chromium with tags. Headings look like the text around them; one large bold line is not a heading.
const bytes = readFileSync(join(import.meta.dirname, "fixtures/tagged.pdf"))

describe("a tagged PDF", () => {
  it.effect("has the headings of its tags", () =>
    Effect.gen(function* () {
      const { blocks, text, title } = yield* parse({ path: "tagged.pdf", bytes })
      assert.deepStrictEqual(
        blocks.filter(({ kind }) => kind === "heading").map(({ heading, level }) => [level, heading]),
        [
          [1, "Gauges of the weir"],
          [2, "Readings by month"],
          [3, "Above the gates"],
          [2, "What follows"]
        ]
      )
      assert.strictEqual(title, "Gauges of the weir")
      assert.include(text, "A sentence set large that heads nothing")
    })
  )

  it.effect("adds alternative texts to figures and to their searchable text", () =>
    Effect.gen(function* () {
      const { figures, lines, text } = yield* parse({ path: "tagged.pdf", bytes })
      assert.deepStrictEqual(
        figures.map(({ alternative, number }) => [number, alternative]),
        [
          ["1", "Bars that rise from March to May"],
          ["2", "The lower gates, closed, from the bridge"]
        ]
      )
      for (const figure of figures) {
        assert.isTrue(text.slice(figure.start, figure.end).endsWith(`\n${figure.alternative}`))
        const line = lines.find(({ end }) => end === figure.end)
        assert.deepStrictEqual([line?.page, line?.box], [figure.page, figure.box])
      }
    })
  )
})

it.effect("a heading of two lines is one, though its number has no tag", () =>
  Effect.gen(function* () {
    const body = (y: number) => ({
      text: "The keeper reads the gauge each morning and writes it down.",
      x: 50,
      y
    })
    const bytes = writePdf([
      {
        marks: [
          ...[700, 688, 676].map(body),
          { text: "4.7", x: 50, y: 640, size: 12 },
          { text: "What to do when the gauge fails: the", x: 75, y: 640, size: 12, content: 1 },
          { text: "second gauge", x: 75, y: 626, size: 12, content: 2 },
          ...[600, 588, 576].map(body)
        ],
        tags: [{ type: "H2", children: [1, 2] }]
      }
    ])
    const { blocks } = yield* parse({ path: "numbered.pdf", bytes })
    assert.deepStrictEqual(
      blocks.filter(({ kind }) => kind === "heading").map(({ heading }) => heading),
      ["4.7 What to do when the gauge fails: the second gauge"]
    )
  })
)

it.effect("has its title, though that is tagged as a paragraph", () =>
  Effect.gen(function* () {
    const body = (y: number) => ({ text: "The keeper reads the gauge each morning.", x: 50, y })
    const bytes = writePdf([
      {
        marks: [
          { text: "The gauges of the weir", x: 50, y: 740, size: 18 },
          { text: "Ada Reed and Tom Wicker", x: 50, y: 715, size: 11 },
          { text: "SUMMARY", x: 50, y: 680, size: 12, content: 1 },
          ...[660, 648, 636].map(body)
        ],
        tags: [{ type: "H1", children: [1] }]
      }
    ])
    const { blocks, title } = yield* parse({ path: "tagged-title.pdf", bytes })
    assert.strictEqual(title, "The gauges of the weir")
    assert.deepStrictEqual(
      blocks.filter(({ kind }) => kind === "heading").map(({ heading }) => heading),
      ["The gauges of the weir", "SUMMARY"]
    )
  })
)
