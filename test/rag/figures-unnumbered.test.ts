/** Captions without a number, and what ends a figure or table. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Figure, Parsed } from "../../packages/rag/src/document/Document.ts"
import { captionStart } from "../../packages/rag/src/formats/parsing/CaptionStart.ts"
import { parse } from "../../packages/rag/src/formats/ParsedFile.ts"
import { brokenLaw } from "./FigureLaws.ts"
import { column, type Mark, type PdfPage, writePdf } from "./PdfWriter.ts"

const read = (...pages: ReadonlyArray<PdfPage>) => parse({ path: "test.pdf", bytes: writePdf(pages) })

const prose = (y: number, lines = 5): ReadonlyArray<Mark> =>
  column(
    50,
    y,
    Array.from({ length: lines }, (_, i) =>
      i < lines - 1
        ? `Line ${i} of a paragraph that runs over the whole width of its column, so that it is text,`
        : "It ends."
    )
  )

/** A chart with its axes and bars, 200 × 100 points from its lower left corner. */
const chart = (x: number, y: number): string =>
  `${x} ${y} m ${x} ${y + 100} l S ${x} ${y} m ${x + 200} ${y} l S ` +
  [0, 1, 2].map((i) => `${x + 20 + i * 60} ${y} 30 ${40 + i * 30} re f`).join(" ")

const captionOf = ({ text }: Parsed, { caption }: Figure) =>
  caption === undefined ? undefined : text.slice(caption.start, caption.end)
const places = (parsed: Parsed) =>
  parsed.figures.map((figure) => [
    figure.page,
    figure.kind,
    figure.number,
    figure.box?.map(Math.round),
    captionOf(parsed, figure)
  ])

describe("captions without a number", () => {
  it.effect("belong to a drawing or table directly above or below", () =>
    Effect.gen(function* () {
      const cells = ["Gate", "Level", "Lower", "0.4", "Upper", "3.7"].map((text, i) => ({
        text,
        x: 150 + (i % 2) * 120,
        y: 360 - Math.floor(i / 2) * 14
      }))
      const parsed = yield* read({
        draw: `${chart(150, 560)} 150 372 m 350 372 l S 150 356 m 350 356 l S 150 326 m 350 326 l S ${chart(150, 130)}`,
        marks: [
          ...prose(790),
          { text: "Figure: Levels at the gates", x: 180, y: 545 },
          ...prose(520),
          { text: "Table: Levels of two gates", x: 150, y: 378 },
          ...cells,
          ...prose(300),
          { text: "\u56fe\uff1a\u6c34\u4f4d", x: 230, y: 114, font: "STSong-Light" },
          ...prose(90)
        ]
      })
      assert.deepStrictEqual(places(parsed), [
        [1, "figure", undefined, [150, 182, 350, 282], "Figure: Levels at the gates"],
        [1, "table", undefined, [150, 470, 350, 516], "Table: Levels of two gates"],
        [1, "figure", undefined, [150, 612, 350, 712], "图：水位"]
      ])
      assert.deepStrictEqual(parsed.figures[1]?.rows, [
        ["Gate", "Level"],
        ["Lower", "0.4"],
        ["Upper", "3.7"]
      ])
      assert.isUndefined(brokenLaw(parsed))
    })
  )

  it.effect("are text without a drawing beside them", () =>
    Effect.gen(function* () {
      const parsed = yield* read({
        draw: chart(150, 560),
        marks: [
          ...prose(790),
          { text: "Figure 1: Levels at the gates", x: 180, y: 545 },
          ...prose(520),
          {
            text: "Figure: of speech, which is no drawing and stands in the middle of all this text,",
            x: 50,
            y: 440
          },
          {
            text: "Table: a piece of furniture, whatever else it may be called by those who sit at it.",
            x: 50,
            y: 428
          },
          ...prose(400)
        ]
      })
      assert.deepStrictEqual(
        parsed.figures.map(({ kind, number }) => [kind, number]),
        [["figure", "1"]]
      )
      assert.include(parsed.text, "Figure: of speech")
    })
  )

  it.each([
    ["Figure: The gates", "figure"],
    ["Abb.: Tore", "figure"],
    ["Chart: Levels by year", "figure"],
    ["Table: Levels", "table"],
    ["表：试验参数", "table"]
  ] as const)("begin like %s", (text, kind) => {
    const start = captionStart(text)
    assert.deepStrictEqual([start?.kind, start?.number, start?.sign], [kind, undefined, "unnumbered"])
  })

  it.each(["Source: the Board of Locks", "Photo: A. Weir", "figure: lower", "Figure:", "Tables: see below"])(
    "do not begin like %s",
    (text) => {
      assert.isUndefined(captionStart(text))
    }
  )
})

describe("a figure below other text", () => {
  it.effect("includes its title and no other text above its drawing", () =>
    Effect.gen(function* () {
      const row = (y: number): ReadonlyArray<Mark> => [
        { text: "Gates", x: 60, y, font: "Helvetica-Bold" },
        { text: "are opened by hand when the level is low", x: 150, y }
      ]
      const parsed = yield* read({
        draw: "60 400 400 160 re S 80 420 100 40 re f 250 420 100 80 re f",
        marks: [
          ...prose(790, 6),
          ...[660, 646, 632, 618, 604, 590].flatMap(row),
          { text: "Levels by month", x: 220, y: 563 },
          { text: "Figure 2: Levels at the gates", x: 60, y: 385 },
          ...prose(350, 6)
        ]
      })
      const [figure] = parsed.figures
      assert.deepStrictEqual([figure?.number, figure?.box?.map(Math.round)], ["2", [60, 270, 460, 442]])
    })
  )
})

describe("a table that text flows around", () => {
  it.effect("ends above a paragraph that continues below it", () =>
    Effect.gen(function* () {
      const narrow = column(
        50,
        700,
        Array.from({ length: 6 }, (_, i) => `Line ${i} of a paragraph that is beside the table,`)
      )
      const wide = Array.from(
        { length: 5 },
        (_, i) => `Line ${i} of this paragraph, which runs over the whole width of the page from here on,`
      )
      const cells = [0, 1, 2, 3].flatMap((row) =>
        [0, 1].map((cell) => ({ text: `${row}.${cell}`, x: 330 + cell * 70, y: 680 - row * 16 }))
      )
      const parsed = yield* read({
        draw: [693, 675, 620].map((y) => `320 ${y} m 380 ${y} l S 380 ${y} m 440 ${y} l S`).join(" "),
        marks: [
          ...prose(790, 5),
          { text: "Table 2: Levels of two gates", x: 320, y: 700 },
          ...narrow,
          { text: "The next one begins beside its last line and", x: 50, y: 616 },
          ...column(50, 604, wide),
          ...cells
        ]
      })
      const [table] = parsed.figures
      assert.deepStrictEqual([table?.number, table?.box?.map(Math.round)], ["2", [320, 149, 440, 222]])
      assert.lengthOf(table!.rows!, 4)
    })
  )
})
