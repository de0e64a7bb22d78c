/** Figures and tables of PDFs, found by their captions: number, kind, box, text, rows and mentions. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Box, Figure, Parsed } from "../../packages/rag/src/document/Document.ts"
import { captionStart } from "../../packages/rag/src/formats/parsing/CaptionStart.ts"
import { withMentions } from "../../packages/rag/src/formats/parsing/Mentions.ts"
import { parse } from "../../packages/rag/src/formats/ParsedFile.ts"
import { renderPage } from "../../packages/rag/src/formats/pdf/Pdf.ts"
import { column, type Mark, type PdfPage, writePdf } from "./PdfWriter.ts"

const read = (...pages: ReadonlyArray<PdfPage>) => parse({ path: "test.pdf", bytes: writePdf(pages) })

const textOf = ({ text }: Parsed, { end, start }: { readonly start: number; readonly end: number }) =>
  text.slice(start, end)

const overlap = (a: Box, b: Box): number => {
  const width = Math.min(a[2], b[2]) - Math.max(a[0], b[0])
  const height = Math.min(a[3], b[3]) - Math.max(a[1], b[1])
  if (width <= 0 || height <= 0) return 0
  const area = (box: Box) => (box[2] - box[0]) * (box[3] - box[1])
  return (width * height) / (area(a) + area(b) - width * height)
}

/** Width and height of a PNG. */
const sizeOf = (png: Uint8Array): readonly [number, number] => {
  const view = new DataView(png.buffer, png.byteOffset)
  return [view.getUint32(16), view.getUint32(20)]
}

const prose = (x: number, y: number, lines: number): ReadonlyArray<Mark> =>
  column(
    x,
    y,
    Array.from({ length: lines }, (_, i) =>
      i < lines - 1 ? `Line ${i} of a paragraph that runs over the width of its column,` : "It ends."
    )
  )

/** A chart of 200 × 100 points with axes, three bars and a label. (x, y) is its lower left corner. */
const chart = (x: number, y: number): string =>
  `${x} ${y} m ${x} ${y + 100} l S ${x} ${y} m ${x + 200} ${y} l S ` +
  [0, 1, 2].map((i) => `${x + 20 + i * 60} ${y} 30 ${40 + i * 30} re f`).join(" ")

const summary = ({ kind, number, page }: Figure) => [page, kind, number]

describe("figures of a PDF", () => {
  // Printed by Chromium from random words, charts, pictures and tables in several styles, with the boxes of its layout
  it.effect("are found at their positions in PDFs of several programs", () =>
    Effect.gen(function* () {
      const folder = join(import.meta.dirname, "fixtures/figures")
      const gold: ReadonlyArray<Omit<Figure, "box"> & { readonly document: string; readonly box: Box }> =
        JSON.parse(readFileSync(join(folder, "gold.json"), "utf8"))
      for (const document of new Set(gold.map((one) => one.document))) {
        const own = gold.filter((one) => one.document === document)
        const { figures } = yield* parse({
          path: document,
          bytes: readFileSync(join(folder, document))
        })
        const found = figures.filter(({ page }) => own.some((one) => one.page === page))
        assert.sameDeepMembers(found.map(summary), own.map(summary), document)
        for (const one of own) {
          const { box } = found.find((other) => summary(other).join() === summary(one).join())!
          assert.isAbove(
            overlap(box!, one.box),
            0.7,
            `${document}, page ${one.page}, ${one.kind} ${one.number}`
          )
        }
      }
    })
  )

  it.effect("have caption and inner text together, outside the surrounding paragraphs", () =>
    Effect.gen(function* () {
      const parsed = yield* read({
        draw: chart(100, 500),
        marks: [
          ...prose(50, 780, 5),
          { text: "spring", x: 120, y: 488, size: 8 },
          // Points of a plot.
          { text: "* *", x: 140, y: 590, size: 8 },
          { text: "*", x: 200, y: 570, size: 8 },
          { text: "Gauge in metres", x: 92, y: 520, size: 8, turned: 90 },
          { text: "Figure 3: The level of the upper pound,", x: 100, y: 465 },
          { text: "measured at noon.", x: 100, y: 453 },
          { text: "What follows is told below the figure, as Figure 3 shows.", x: 50, y: 420 },
          { text: "Figure 3 shows the level and is no caption.", x: 50, y: 396 }
        ]
      })
      const [figure] = parsed.figures
      assert.deepStrictEqual(parsed.figures.map(summary), [[1, "figure", "3"]])
      assert.strictEqual(
        textOf(parsed, figure!.caption!),
        "Figure 3: The level of the upper pound, measured at noon."
      )
      assert.strictEqual(
        textOf(parsed, figure!),
        "Figure 3: The level of the upper pound, measured at noon.\nspring\nGauge in metres"
      )
      assert.isAbove(overlap(figure!.box!, [84, 242, 300, 356]), 0.9)
      assert.deepStrictEqual(
        parsed.blocks.map(({ kind }) => kind),
        ["paragraph", "figure", "paragraph", "paragraph"]
      )
      assert.deepStrictEqual(
        figure!.mentions.map((span) => textOf(parsed, span).slice(-30)),
        ["w the figure, as Figure 3 shows", "shows the level and is no caption"].map((end) =>
          `${end}.`.slice(-30)
        )
      )
      // 200 dots an inch
      const [width, height] = sizeOf(figure!.crop!)
      assert.closeTo(width, ((figure!.box![2] - figure!.box![0]) * 200) / 72, 2)
      assert.closeTo(height, ((figure!.box![3] - figure!.box![1]) * 200) / 72, 2)
    })
  )

  it.effect("include images and forms with a matrix", () =>
    Effect.gen(function* () {
      const parsed = yield* read({
        draw: "/X Do q 100 0 0 80 350 250 cm /I Do Q",
        form: chart(40, 250),
        marks: [
          ...prose(50, 800, 4),
          { text: "Figure 1. A form.", x: 80, y: 480 },
          ...prose(50, 440, 4),
          { text: "Figure 2. An image.", x: 350, y: 230 }
        ]
      })
      assert.deepStrictEqual(parsed.figures.map(summary), [
        [1, "figure", "1"],
        [1, "figure", "2"]
      ])
      assert.isAbove(overlap(parsed.figures[0]!.box!, [80, 142, 480, 342]), 0.9)
      assert.isAbove(overlap(parsed.figures[1]!.box!, [350, 512, 450, 592]), 0.9)
    })
  )

  it.effect("are found on rotated pages and side by side", () =>
    Effect.gen(function* () {
      for (const rotate of [0, 90, 180, 270] as const) {
        const parsed = yield* read({
          rotate,
          draw: `${chart(60, 500)} ${chart(330, 500)}`,
          marks: [
            ...prose(50, 780, 5),
            { text: "Figure 1: Left.", x: 60, y: 480 },
            { text: "Figure 2: Right.", x: 330, y: 480 }
          ]
        })
        assert.deepStrictEqual(parsed.figures.map(({ number }) => number).toSorted(), ["1", "2"])
        const { height, width } = parsed.pages[0]!
        const [one, two] = parsed.figures.toSorted((a, b) => a.number!.localeCompare(b.number!))
        const area = (box: Box) => (box[2] - box[0]) * (box[3] - box[1])
        assert.isAbove(area(one!.box!), 15_000)
        assert.strictEqual(overlap(one!.box!, two!.box!), 0)
        assert.isAtMost(Math.max(one!.box![2], two!.box![2]), width)
        assert.isAtMost(Math.max(one!.box![3], two!.box![3]), height)
      }
    })
  )

  it.effect("include tables with rows by gaps or lines, also under Chinese captions", () =>
    Effect.gen(function* () {
      const rule = (y: number): string => `50 ${y} m 450 ${y} l S`
      const row = (y: number, ...cells: ReadonlyArray<string>): ReadonlyArray<Mark> =>
        cells.map((text, i) => ({ text, x: 55 + i * 140, y }))
      const parsed = yield* read(
        {
          marks: [
            ...prose(50, 800, 5),
            { text: "Table 1. What is kept where", x: 50, y: 700 },
            ...row(680, "Item", "Place", "Number"),
            ...row(666, "Grease", "Weir house", "2"),
            ...row(652, "Rope", "Loft", "3"),
            ...prose(50, 600, 6)
          ]
        },
        {
          draw: [700, 680, 640, 600].map(rule).join(" "),
          marks: [
            { text: "表2 船闸的水位", x: 50, y: 710, font: "STSong-Light" },
            ...row(686, "Gate", "Level", "Note"),
            ...row(666, "Upper", "4.2", "measured in the"),
            { text: "morning", x: 335, y: 652 },
            ...row(626, "Lower", "1.9", "measured in the"),
            { text: "evening", x: 335, y: 612 },
            { text: "水位见表2，船闸停航。", x: 50, y: 560, font: "STSong-Light" }
          ]
        }
      )
      assert.deepStrictEqual(parsed.figures.map(summary), [
        [1, "table", "1"],
        [2, "table", "2"]
      ])
      assert.deepStrictEqual(parsed.figures[0]!.rows, [
        ["Item", "Place", "Number"],
        ["Grease", "Weir house", "2"],
        ["Rope", "Loft", "3"]
      ])
      assert.deepStrictEqual(parsed.figures[1]!.rows, [
        ["Gate", "Level", "Note"],
        ["Upper", "4.2", "measured in the morning"],
        ["Lower", "1.9", "measured in the evening"]
      ])
      assert.include(textOf(parsed, parsed.figures[1]!), "Upper | 4.2 | measured in the morning")
      assert.deepStrictEqual(
        parsed.figures[1]!.mentions.map((span) => textOf(parsed, span)),
        ["水位见表2，船闸停航。"]
      )
    })
  )

  it.effect("are found side by side with captions at different heights", () =>
    Effect.gen(function* () {
      const { figures } = yield* read({
        draw: `${chart(50, 500)} 330 560 200 120 re f`,
        marks: [
          ...prose(50, 800, 5),
          { text: "Figure 1: The low one.", x: 50, y: 480 },
          { text: "Figure 2: The high one, whose", x: 330, y: 540 },
          { text: "caption has two lines.", x: 330, y: 528 },
          ...prose(50, 440, 6),
          ...prose(50, 300, 6)
        ]
      })
      const [one, two] = figures.toSorted((a, b) => a.number!.localeCompare(b.number!))
      assert.isAbove(overlap(one!.box!, [50, 242, 250, 342]), 0.9)
      assert.isAbove(overlap(two!.box!, [330, 162, 530, 282]), 0.9)
    })
  )

  it.effect("are found within text that flows around them", () =>
    Effect.gen(function* () {
      const wide =
        "Line of a paragraph that runs over the whole width of the page as it was set, up to its edge,"
      const narrow = "Line beside the figure that ends before it, as"
      const { figures } = yield* read({
        draw: "330 560 200 120 re f",
        marks: [
          ...column(50, 800, [wide, wide, wide, wide, "It ends."]),
          ...column(50, 724, [wide, wide, wide, ...Array.from({ length: 15 }, () => narrow), wide, wide]),
          { text: "Figure 1: A stone.", x: 330, y: 540 }
        ]
      })
      assert.deepStrictEqual(figures.map(summary), [[1, "figure", "1"]])
      assert.isAbove(overlap(figures[0]!.box!, [330, 162, 530, 282]), 0.9)
    })
  )

  it.effect("end above notes, continue over pages, and are found beside captions", () =>
    Effect.gen(function* () {
      const row = (y: number, ...cells: ReadonlyArray<string>): ReadonlyArray<Mark> =>
        cells.map((text, i) => ({ text, x: 200 + i * 100, y }))
      const rows = (y: number): ReadonlyArray<Mark> => [
        ...row(y, "Item", "Number"),
        ...row(y - 16, "Grease", "2"),
        ...row(y - 32, "Rope", "3")
      ]
      const rules = (y: number): string =>
        [y + 14, y - 4, y - 38].map((at) => `195 ${at} m 345 ${at} l S`).join(" ")
      const { figures } = yield* read(
        {
          marks: [
            ...prose(50, 800, 5),
            { text: "Table 1: What is kept", x: 200, y: 700 },
            ...rows(680),
            { text: "Note: counted in spring by those who were there at the time.", x: 60, y: 630, size: 8 },
            ...prose(50, 580, 6)
          ]
        },
        { marks: [{ text: "Table 1 (continued)", x: 200, y: 800 }, ...rows(780), ...prose(50, 700, 6)] },
        {
          draw: rules(680),
          marks: [
            ...prose(50, 800, 5),
            { text: "Table 2: Kept", x: 60, y: 680 },
            { text: "in the loft", x: 60, y: 668 },
            ...rows(680),
            ...prose(50, 580, 6)
          ]
        }
      )
      assert.deepStrictEqual(figures.map(summary), [
        [1, "table", "1"],
        [2, "table", "1"],
        [3, "table", "2"]
      ])
      assert.isAbove(overlap(figures[0]!.box!, [200, 154, 336, 196]), 0.8)
      assert.isAbove(overlap(figures[2]!.box!, [195, 148, 345, 200]), 0.9)
    })
  )

  it.effect("need a drawing other than repeated lines and logos", () =>
    Effect.gen(function* () {
      const header = "50 810 m 545 810 l S 500 815 30 15 re f"
      const parsed = yield* read(
        ...[1, 2, 3, 4].map((n) => ({
          draw: header,
          marks: [
            ...prose(50, 790, 20),
            { text: `Figure ${n}: A caption whose figure was lost.`, x: 50, y: 500 },
            ...prose(50, 470, 20)
          ]
        }))
      )
      assert.deepStrictEqual(parsed.figures, [])
      assert.include(parsed.text, "Figure 3: A caption whose figure was lost.")
    })
  )
})

describe("captionStart", () => {
  it.each([
    ["Figure 3: The gates", "figure", "3", "marked"],
    ["Fig. 2.1 – The gates", "figure", "2.1", "marked"],
    ["TABLE IV", "table", "IV", "alone"],
    ["Table S4. Levels", "table", "S4", "marked"],
    ["Abbildung 5: Tore", "figure", "5", "marked"],
    ["Tabelle 12. Pegel", "table", "12", "marked"],
    ["图3-1 船闸", "figure", "3-1", "marked"],
    ["表 2：水位", "table", "2", "marked"],
    ["Algorithm 1: Opening", "figure", "1", "marked"],
    ["Table 4 (continued)", "table", "4", "marked"],
    ["Figure 3 shows the gates", "figure", "3", "bare"],
    ["Figure 3 continued to rise", "figure", "3", "bare"]
  ] as const)("reads %s", (text, kind, number, sign) => {
    const { word: _, length: __, ...start } = captionStart(text)!
    assert.deepStrictEqual(start, { kind, number, sign })
  })

  it.each([
    "图3显示了水位",
    "see Figure 3: it",
    "Figures of speech",
    "Figure 3: Gates . . . . . . . 12",
    "table 5: x"
  ])("does not take %s for one", (text) => {
    assert.isUndefined(captionStart(text))
  })
})

describe("withMentions", () => {
  it("recognizes lists, ranges, parts and other series", () => {
    const paragraphs = [
      "See Figs. 2–5 and Table 1.",
      "As Figure 1 and Table 2 show.",
      "Figures 3(a) and 4 differ.",
      "Listing 2 opens the gates.",
      "如图3、4所示。"
    ]
    const text = paragraphs.join("\n\n")
    const blocks = paragraphs.map((paragraph) => {
      const start = text.indexOf(paragraph)
      return { kind: "paragraph" as const, start, end: start + paragraph.length }
    })
    const mentioned = (kind: "figure" | "table", number: string) =>
      withMentions(text, blocks, [{ kind, number, start: text.length, end: text.length }])[0]!.mentions.map(
        ({ start }) => blocks.findIndex((block) => block.start === start)
      )
    assert.deepStrictEqual(mentioned("figure", "3"), [0, 2, 4])
    assert.deepStrictEqual(mentioned("figure", "4"), [0, 2, 4])
    assert.deepStrictEqual(mentioned("figure", "5"), [0])
    assert.deepStrictEqual(mentioned("figure", "2"), [0])
    assert.deepStrictEqual(mentioned("table", "2"), [1])
    assert.deepStrictEqual(mentioned("table", "1"), [0])
  })
})

describe("renderPage", () => {
  it.effect("draws a page with its rotation, and fails without such a page", () =>
    Effect.gen(function* () {
      const bytes = writePdf([{ rotate: 90, marks: prose(50, 700, 3) }])
      const png = yield* renderPage("a.pdf", bytes, 1, { dpi: 144 })
      assert.deepStrictEqual(sizeOf(png), [1684, 1190])
      const error = yield* Effect.flip(renderPage("a.pdf", bytes, 2, { dpi: 72 }))
      assert.strictEqual(error.reason, "NotFound")
      assert.match(error.message, /no page 2; it has 1/)
    })
  )
})
