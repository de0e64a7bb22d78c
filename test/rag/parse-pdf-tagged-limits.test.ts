/** Repeated and ambiguous tags of a PDF. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { parse } from "../../packages/rag/src/formats/ParsedFile.ts"
import { commonGutter } from "../../packages/rag/src/formats/pdf/layout/Columns.ts"
import type { Run } from "../../packages/rag/src/formats/pdf/page/Run.ts"
import { brokenLaw } from "./FigureLaws.ts"
import { column, type PdfPage, type Tag, writePdf } from "./PdfWriter.ts"

const read = (page: PdfPage) => parse({ path: "tagged.pdf", bytes: writePdf([page]) })

const prose = (y: number) =>
  column(60, y, [
    "The gates of the lower lock were measured in every season of the year, and bearings",
    "wear where the water carries sand. What follows says how the levels changed from",
    "one spring to the next, and which of the stations were left out of the reckoning."
  ])

describe("a tagged PDF", () => {
  it.effect("keeps a drawing whose caption is tagged as that of another one", () =>
    Effect.gen(function* () {
      const parsed = yield* read({
        marks: [
          ...prose(810),
          ...prose(540),
          { text: "Figure 4: Gates before and after", x: 150, y: 470, content: 5 },
          { text: "Sill", x: 160, y: 400 },
          ...prose(300)
        ],
        draw: [
          "/Figure << /MCID 0 >> BDC q 240 0 0 140 150 600 cm /I Do Q EMC",
          "q 240 0 0 100 150 355 cm /I Do Q"
        ].join("\n"),
        tags: [
          { type: "Figure", alt: "The weir", children: [0, { type: "Caption", children: [5] }] } satisfies Tag
        ]
      })
      assert.deepStrictEqual(
        parsed.figures.map(({ end, start }) => parsed.text.slice(start, end)),
        ["The weir", "Figure 4: Gates before and after\nSill"]
      )
      assert.isUndefined(brokenLaw(parsed))
    })
  )

  it.effect("has an alternative text once that a drawing shares with its parts", () =>
    Effect.gen(function* () {
      const panels = [0, 1].map(
        (i) => `/P << /MCID ${i} >> BDC q 100 0 0 100 ${150 + 110 * i} 600 cm /I Do Q EMC`
      )
      const same = (...children: Tag["children"] & {}): Tag => ({ type: "Figure", alt: "The weir", children })
      const page = { marks: [...prose(810), ...prose(300)], draw: panels.join("\n") }
      const nested = yield* read({ ...page, tags: [same(same(0), same(1))] })
      const caption = { text: "Figure 4: The weir in spring", x: 150, y: 585 }
      const captioned = yield* read({ ...page, marks: [...page.marks, caption], tags: [same(0), same(1)] })
      assert.deepStrictEqual(
        [nested, captioned].map(({ figures }) => figures.map(({ alternative }) => alternative)),
        [["The weir"], ["The weir"]]
      )
    })
  )

  it.effect("does not repeat a long cell that spans hundreds of rows", () =>
    Effect.gen(function* () {
      const cell = (content: number, spans: Pick<Tag, "columns" | "rows"> = {}): Tag => ({
        type: "TD",
        ...spans,
        children: [content]
      })
      const rows = Array.from({ length: 400 }, (_, i) => ({ y: 820 - 2 * i, size: 1.5, own: 2 * i + 1 }))
      const long = rows.map((_, i) => `Line ${i} of a text that goes on and on`)
      const parsed = yield* read({
        marks: [
          ...rows.flatMap(({ own, size, y }) => [
            { text: "Row", x: 20, y, size, content: own },
            { text: "1", x: 100, y, size, content: own + 1 }
          ]),
          ...column(200, 820, long, 1.5).map((mark) => ({ ...mark, content: 0 }))
        ],
        tags: [
          {
            type: "Table",
            children: rows.map(({ own }, i) => ({
              type: "TR",
              children: [cell(own), cell(own + 1), ...(i === 0 ? [cell(0, { columns: 38, rows: 400 })] : [])]
            }))
          }
        ]
      })
      assert.deepStrictEqual(parsed.figures, [])
      assert.isBelow(parsed.text.length, 2 * long.join(" ").length)
    })
  )
})

describe("a page", () => {
  it("may have half a million pieces of text", () => {
    const run: Run = {
      text: "1",
      x0: 10,
      y0: 10,
      x1: 15,
      y1: 20,
      box: [10, 10, 15, 20],
      size: 10,
      bold: false,
      mono: false,
      turn: 0
    }
    const page = { number: 1, width: 600, height: 800, graphics: [], failed: false }
    assert.isUndefined(commonGutter([{ ...page, runs: Array.from({ length: 500_000 }, () => run) }]))
  })
})
