/** Tables and figures from the tags of a PDF, and wrong tags. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Parsed } from "../../packages/rag/src/document/Document.ts"
import { parse } from "../../packages/rag/src/formats/ParsedFile.ts"
import { brokenLaw } from "./FigureLaws.ts"
import { column, type Mark, type PdfPage, type Tag, writePdf } from "./PdfWriter.ts"

const read = (...pages: ReadonlyArray<PdfPage>) => parse({ path: "tagged.pdf", bytes: writePdf(pages) })

const textOf = ({ figures, text }: Parsed): ReadonlyArray<string> =>
  figures.map(({ end, start }) => text.slice(start, end))

const prose = (y: number): ReadonlyArray<Mark> =>
  column(60, y, [
    "The gates of the lower lock were measured in every season of the year, and bearings",
    "wear where the water carries sand. What follows says how the levels changed from",
    "one spring to the next, and which of the stations were left out of the reckoning."
  ])

/** Cells by position, each with its own marked content from `from` on. A cell may have several lines. */
const cells = (
  from: number,
  places: ReadonlyArray<readonly [x: number, y: number, ...lines: ReadonlyArray<string>]>
): ReadonlyArray<Mark> =>
  places.flatMap(([x, y, ...lines], i) => column(x, y, lines).map((mark) => ({ ...mark, content: from + i })))

const cell = (content: number, spans: Pick<Tag, "columns" | "rows"> = {}, type = "TD"): Tag => ({
  type,
  ...spans,
  children: [{ type: "P", children: [content] }]
})
const row = (...children: ReadonlyArray<Tag>): Tag => ({ type: "TR", children })
const table = (...children: ReadonlyArray<Tag>): Tag => ({ type: "Table", children })

// Columns without a gap between them, and a cell of two lines
const crowded = cells(0, [
  [100, 600, "Gate"],
  [150, 600, "Levels of the year"],
  [150, 586, "low"],
  [200, 586, "high tide"],
  [100, 572, "Lower gate"],
  [150, 572, "0.4"],
  [200, 572, "2.1 and", "falling"],
  [100, 544, "Upper"],
  [200, 544, "3.7"]
])
const levels: Tag = table(
  {
    type: "THead",
    children: [row(cell(0, { rows: 2 }, "TH"), cell(1, { columns: 2 }, "TH")), row(cell(2), cell(3))]
  },
  { type: "TBody", children: [row(cell(4), cell(5), cell(6)), row(cell(7), { type: "TD" }, cell(8))] }
)
const levelRows = [
  ["Gate", "Levels of the year", "Levels of the year"],
  ["Gate", "low", "high tide"],
  ["Lower gate", "0.4", "2.1 and falling"],
  ["Upper", "", "3.7"]
]

describe("tables of a tagged PDF", () => {
  it.effect("have the rows and columns of their tags, and repeat spanning cells", () =>
    Effect.gen(function* () {
      const parsed = yield* read({
        marks: [
          ...prose(780),
          { text: "Table 3: Levels at the gates", x: 100, y: 620 },
          ...crowded,
          ...prose(480)
        ],
        draw: "100 612 m 300 612 l S 100 530 m 300 530 l S",
        tags: [levels]
      })
      const [found] = parsed.figures
      assert.deepStrictEqual(
        [parsed.figures.length, found?.kind, found?.number, found?.rows],
        [1, "table", "3", levelRows]
      )
      assert.deepStrictEqual(textOf(parsed), [
        "Table 3: Levels at the gates\nGate | Levels of the year\nGate | low | high tide\nLower gate | 0.4 | 2.1 and falling\nUpper | 3.7"
      ])
      assert.isUndefined(brokenLaw(parsed))
    })
  )

  it.effect("are found without a caption, between paragraphs", () =>
    Effect.gen(function* () {
      const parsed = yield* read({ marks: [...prose(780), ...crowded, ...prose(480)], tags: [levels] })
      const [found] = parsed.figures
      assert.deepStrictEqual([parsed.figures.length, found?.kind, found?.rows], [1, "table", levelRows])
      assert.isFalse("number" in found! || "caption" in found!)
      const [x0, y0, x1, y1] = found!.box!
      assert.isTrue(
        x0 > 95 && x0 < 101 && y0 > 225 && y0 < 236 && x1 > 235 && x1 < 250 && y1 > 298 && y1 < 306
      )
      assert.deepStrictEqual(
        parsed.blocks.map(({ kind }) => kind),
        ["paragraph", "table", "paragraph"]
      )
      assert.isUndefined(brokenLaw(parsed))
    })
  )

  it.effect("take their caption from within their tag", () =>
    Effect.gen(function* () {
      const said = { text: "Table 7 as it was read in spring", x: 100, y: 622, content: 20 }
      const parsed = yield* read({
        marks: [...prose(780), said, ...crowded],
        tags: [{ ...levels, children: [{ type: "Caption", children: [20] }, ...levels.children!] }]
      })
      const [found] = parsed.figures
      assert.deepStrictEqual([found?.number, found?.rows], ["7", levelRows])
      assert.strictEqual(parsed.text.slice(found!.caption!.start, found!.caption!.end), said.text)
    })
  )

  const caption = { text: "Table 3: Levels at the gates", x: 100, y: 620 }
  const grid = cells(0, [
    [100, 600, "Gate"],
    [200, 600, "low"],
    [300, 600, "high"],
    [100, 580, "Lower"],
    [200, 580, "0.4"],
    [300, 580, "2.1"],
    [100, 560, "Upper"],
    [200, 560, "0.9"],
    [300, 560, "3.7"]
  ])
  const rules = "100 612 m 330 612 l S 100 594 m 330 594 l S 100 552 m 330 552 l S"
  const rowsOf = (numbers: ReadonlyArray<ReadonlyArray<number>>): Tag =>
    table(...numbers.map((own) => row(...own.map((content) => cell(content)))))
  const wrong: ReadonlyArray<readonly [string, Tag]> = [
    [
      "columns for rows",
      rowsOf([
        [0, 3, 6],
        [1, 4, 7],
        [2, 5, 8]
      ])
    ],
    [
      "rows in another order",
      rowsOf([
        [6, 7, 8],
        [3, 4, 5],
        [0, 1, 2]
      ])
    ],
    [
      "cells of two rows as one",
      rowsOf([
        [0, 4, 2],
        [3, 1, 5],
        [6, 7, 8]
      ])
    ],
    [
      "a column without a tag",
      rowsOf([
        [0, 2],
        [3, 5],
        [6, 8]
      ])
    ],
    [
      "headings in cells",
      table(
        row(cell(0), cell(1), cell(2)),
        row({ type: "TD", children: [{ type: "H2", children: [3] }] }, cell(4), cell(5)),
        row(cell(6), cell(7), cell(8))
      )
    ],
    [
      "spans that leave the table",
      table(
        row(cell(0, { columns: 400 }), cell(1), cell(2)),
        row(cell(3), cell(4), cell(5)),
        row(cell(6), cell(7), cell(8))
      )
    ],
    ["one row", rowsOf([[0, 1, 2, 3, 4, 5, 6, 7, 8]])]
  ]
  it.effect.each(wrong)("that are tagged wrongly, with %s, are as without tags", ([, tag]) =>
    Effect.gen(function* () {
      const page = { marks: [...prose(780), caption, ...grid, ...prose(500)], draw: rules }
      const plain = yield* read(page)
      const tagged = yield* read({ ...page, tags: [tag] })
      assert.deepStrictEqual(
        plain.figures.map(({ kind, number, rows }) => [kind, number, rows?.length]),
        [["table", "3", 3]]
      )
      assert.deepStrictEqual(tagged.figures, plain.figures)
      // It does not become a table without a caption either
      const bare = yield* read({ ...page, marks: [...prose(780), ...grid, ...prose(500)], tags: [tag] })
      assert.deepStrictEqual(bare.figures, [])
    })
  )

  it.effect("are dropped if they only arrange columns of text", () =>
    Effect.gen(function* () {
      const text = (content: number, x: number, y: number): ReadonlyArray<Mark> =>
        column(
          x,
          y,
          Array.from({ length: 12 }, (_, i) => `Line ${i} of a text of its own that fills it`)
        ).map((mark) => ({ ...mark, content }))
      const parsed = yield* read({
        marks: [...text(0, 60, 780), ...text(1, 320, 780), ...text(2, 60, 600), ...text(3, 320, 600)],
        tags: [
          rowsOf([
            [0, 1],
            [2, 3]
          ])
        ]
      })
      assert.deepStrictEqual(parsed.figures, [])
    })
  )
})

/** A photograph as marked content. */
const picture = (content: number, x: number, y: number, width: number, height: number): string =>
  `/Figure << /MCID ${content} >> BDC q ${width} 0 0 ${height} ${x} ${y} cm /I Do Q EMC`

describe("figures of a tagged PDF", () => {
  it.effect("are found by their alternative text without a caption", () =>
    Effect.gen(function* () {
      const parsed = yield* read({
        marks: [...prose(780), ...prose(480)],
        draw: picture(0, 150, 540, 240, 160),
        tags: [{ type: "Figure", alt: "The weir seen from the bridge", children: [0] }]
      })
      const [found] = parsed.figures
      assert.deepStrictEqual(
        [parsed.figures.length, found?.kind, found?.alternative, found?.box?.map(Math.round)],
        [1, "figure", "The weir seen from the bridge", [150, 142, 390, 302]]
      )
      assert.isFalse("number" in found! || "caption" in found!)
      assert.deepStrictEqual(textOf(parsed), ["The weir seen from the bridge"])
      assert.isAbove(found!.crop!.length, 0)
      assert.deepStrictEqual(
        parsed.blocks.map(({ kind }) => kind),
        ["paragraph", "figure", "paragraph"]
      )
      assert.isUndefined(brokenLaw(parsed))
    })
  )

  it.effect("include nested figures, and stay apart with the same alternative text", () =>
    Effect.gen(function* () {
      const one = (content: number): Tag => ({ type: "Figure", alt: "A gate", children: [content] })
      const parsed = yield* read({
        marks: prose(780),
        draw: [
          picture(0, 100, 560, 100, 100),
          picture(1, 210, 560, 100, 100),
          picture(2, 100, 300, 100, 100),
          picture(3, 400, 300, 100, 100)
        ].join("\n"),
        tags: [
          {
            type: "Figure",
            alt: "Both gates",
            children: [
              { type: "Figure", children: [0] },
              { type: "Figure", children: [1] }
            ]
          },
          one(2),
          one(3)
        ]
      })
      assert.deepStrictEqual(
        parsed.figures.map(({ alternative, box }) => [alternative, box?.map(Math.round)]),
        [
          ["Both gates", [100, 182, 310, 282]],
          ["A gate", [100, 442, 200, 542]],
          ["A gate", [400, 442, 500, 542]]
        ]
      )
      assert.isUndefined(brokenLaw(parsed))
    })
  )

  it.effect("are dropped if tiny, not drawn, as large as the page, or on every page", () =>
    Effect.gen(function* () {
      const logo = picture(0, 60, 640, 90, 90)
      const figure = (alt: string, content: number): Tag => ({ type: "Figure", alt, children: [content] })
      const page = (draw: string, ...tags: ReadonlyArray<Tag>): PdfPage => ({
        marks: prose(600),
        draw: `${logo}\n${draw}`,
        tags: [figure("Board of Locks", 0), ...tags]
      })
      const parsed = yield* read(
        page(picture(1, 300, 650, 12, 12), figure("An arrow", 1)),
        page("", figure("Drawn nowhere", 1)),
        page(picture(1, 0, 0, 595, 842), figure("Paper", 1)),
        page(picture(1, 100, 300, 300, 2), figure("A line", 1))
      )
      assert.deepStrictEqual(parsed.figures, [])
    })
  )

  it.effect("with a caption stay one figure if their panels are tagged", () =>
    Effect.gen(function* () {
      const draw = `${picture(0, 100, 560, 120, 100)}\n${picture(1, 240, 560, 120, 100)}`
      const marks = [
        ...prose(780),
        { text: "Figure 4: Gates before and after", x: 150, y: 540 },
        ...prose(400)
      ]
      const plain = yield* read({ marks, draw })
      const tagged = yield* read({
        marks,
        draw,
        tags: [
          { type: "Figure", alt: "Before", children: [0] },
          { type: "Figure", alt: "After", children: [1] }
        ]
      })
      assert.deepStrictEqual(
        plain.figures.map(({ box, number }) => [number, box?.map(Math.round)]),
        [["4", [100, 182, 360, 282]]]
      )
      assert.deepStrictEqual(
        tagged.figures.map(({ alternative, box, number }) => [number, box, alternative]),
        plain.figures.map(({ box, number }) => [number, box, "Before After"])
      )
    })
  )
})
