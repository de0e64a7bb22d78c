/** Captions without a number, without a label, and on another page than their figure. */
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

const picture = (x: number, y: number, width: number, height: number): string =>
  `q ${width} 0 0 ${height} ${x} ${y} cm /I Do Q`

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

const small = (text: string, x: number, y: number): Mark => ({ text, x, y, size: 8 })

describe("pictures without a label", () => {
  const page = (...marks: ReadonlyArray<Mark>): PdfPage => ({
    draw: picture(150, 500, 240, 160),
    marks: [...prose(790, 8), ...marks, ...prose(400, 8)]
  })

  it.effect("are figures with a small centred line below them", () =>
    Effect.gen(function* () {
      const said = "The weir seen from the old bridge"
      const parsed = yield* read(page(small(said, 208, 489)))
      assert.deepStrictEqual(places(parsed), [[1, "figure", undefined, [150, 182, 390, 342], said]])
      assert.isUndefined(brokenLaw(parsed))
    })
  )

  it.effect("are figures in a single column", () =>
    Effect.gen(function* () {
      const lines = (x: number, y: number, count: number): ReadonlyArray<Mark> =>
        column(
          x,
          y,
          Array.from({ length: count }, () => "Words that run over the width of one of two columns,")
        )
      const parsed = yield* read({
        draw: picture(50, 520, 230, 150),
        marks: [
          ...lines(50, 790, 9),
          small("A gate from below", 132, 509),
          ...lines(50, 480, 9),
          ...lines(320, 790, 34)
        ]
      })
      assert.deepStrictEqual(
        parsed.figures.map(({ box }) => box?.map(Math.round)),
        [[50, 172, 280, 322]]
      )
    })
  )

  it.effect.each([
    ["no line", []],
    ["a line as large as the text", [{ text: "The weir seen from the bridge", x: 205, y: 487 }]],
    ["a line at its edge", [small("The weir seen from the old bridge", 150, 489)]],
    ["a line far below", [small("The weir seen from the old bridge", 208, 460)]],
    ["a source", [small("Source: the Board of Locks", 220, 489)]],
    ["columns", [small("The weir seen", 208, 489), small("from the bridge", 290, 489)]]
  ] as ReadonlyArray<readonly [string, ReadonlyArray<Mark>]>)("are none with %s below them", ([, marks]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* read(page(...marks))).figures, [])
    })
  )
})

describe("a figure that fills its page", () => {
  const plate: PdfPage = {
    draw: `${picture(80, 120, 430, 600)}`,
    marks: [{ text: "17", x: 290, y: 40 }]
  }
  const box = [80, 122, 510, 722]
  const said = "Figure 4: Gates of the upper lock"
  const caption = (y: number): Mark => ({ text: said, x: 50, y })
  const text: PdfPage = { marks: prose(700, 30) }

  it.effect("has its caption at the top of the next page", () =>
    Effect.gen(function* () {
      const parsed = yield* read(text, plate, { marks: [caption(800), ...prose(760, 30)] }, text)
      assert.deepStrictEqual(places(parsed), [[2, "figure", "4", box, said]])
      const [figure] = parsed.figures
      const line = parsed.lines.find(({ start }) => start === figure!.start)
      assert.deepStrictEqual([line?.page, line?.box[1] !== undefined && line.box[1] < 60], [3, true])
      const starts = parsed.pages.map(({ start }) => start)
      assert.deepStrictEqual(
        starts,
        starts.toSorted((a, b) => a - b)
      )
      assert.isUndefined(brokenLaw(parsed))
    })
  )

  it.effect("has its caption at the bottom of the previous page", () =>
    Effect.gen(function* () {
      const parsed = yield* read(text, { marks: [...prose(780, 30), caption(80)] }, plate, text)
      assert.deepStrictEqual(places(parsed), [[3, "figure", "4", box, said]])
      assert.isUndefined(brokenLaw(parsed))
    })
  )

  it.effect("is not found for captions within a page, before plates, or beside a page of text", () =>
    Effect.gen(function* () {
      for (const pages of [
        [text, plate, { marks: [...prose(800, 5), caption(700), ...prose(660, 20)] }],
        [{ marks: [...prose(780, 30), caption(80)] }, plate, plate],
        [text, { ...plate, marks: prose(780, 50) }, { marks: [caption(800), ...prose(760, 30)] }]
      ]) {
        assert.deepStrictEqual((yield* read(...pages)).figures, [])
      }
    })
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
