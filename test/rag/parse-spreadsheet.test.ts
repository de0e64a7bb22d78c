/** Spreadsheets and CSV: what is shown in their cells, and where each row is. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chunk } from "../../packages/rag/src/chunking/Chunker.ts"
import { parse } from "../../packages/rag/src/formats/ParsedFile.ts"
import { brokenLaw } from "./FigureLaws.ts"
import { numberCell, openDocument, textCell, textRows, xlsx } from "./OfficeWriter.ts"

const parsed = (path: string, bytes: Uint8Array) =>
  Effect.map(parse({ path, bytes }), (document) => {
    assert.isUndefined(brokenLaw(document))
    return document
  })
const utf8 = (text: string) => new TextEncoder().encode(text)
const places = ({ locators = [], text }: Effect.Success<ReturnType<typeof parse>>) =>
  locators.map(({ end, label, start, to }) => [
    text.slice(start, end),
    to === undefined ? label : `${label}:${to}`
  ])

const FEES = [
  ["Berth", "Winter fee"],
  ["Q1", "50 crowns"],
  ["Q2", "60 crowns"]
]

describe("an Excel workbook", () => {
  it.effect("has a section and a table for each sheet, with the cells of each row", () =>
    Effect.gen(function* () {
      const document = yield* parsed(
        "fees.xlsx",
        xlsx([
          { name: "Winter", rows: textRows(FEES) },
          { name: "Old 'fees'", rows: textRows([["Berth"], ["Q9"]]) }
        ])
      )
      assert.strictEqual(
        document.text,
        "Winter\n\nBerth | Winter fee\nQ1 | 50 crowns\nQ2 | 60 crowns\n\nOld 'fees'\n\nBerth\nQ9"
      )
      assert.deepStrictEqual(places(document), [
        ["Berth | Winter fee", "Winter!A1:B1"],
        ["Q1 | 50 crowns", "Winter!A2:B2"],
        ["Q2 | 60 crowns", "Winter!A3:B3"],
        ["Berth", "'Old ''fees'''!A1:A1"],
        ["Q9", "'Old ''fees'''!A2:A2"]
      ])
      assert.deepStrictEqual(document.figures[0]?.rows, FEES)
      const [first] = chunk(document)
      assert.deepStrictEqual([first?.headings, first?.locator], [["Winter"], "Winter!A1:B3"])
    })
  )

  it.effect("has its numbers as they are shown", () =>
    Effect.gen(function* () {
      const formats = [
        0,
        14,
        10,
        "#,##0.00\\ [$€-407];[Red]-#,##0.00",
        '"about "0',
        "yyyy/mm/dd hh:mm",
        "0.00E+00",
        20,
        '[h]" h"'
      ]
      const values = [0.30000000000000004, 46145, 0.125, 4200.5, 7.2, 46145.604166667, 1500000, 0.75, 1.5]
      const cells = values.map((value, i) => numberCell(`${String.fromCharCode(65 + i)}1`, value, i))
      const rows = `<row r="1">${cells.join("")}</row>`
      const { text } = yield* parsed("n.xlsx", xlsx([{ name: "N", rows }], { formats }))
      assert.strictEqual(
        text.split("\n").at(-1),
        "0.3 | 2026-05-03 | 12.50% | 4,200.50 € | about 7 | 2026-05-03 14:30 | 1500000 | 18:00 | 36 h"
      )
      const mac = xlsx([{ name: "N", rows: `<row>${numberCell("A1", 44683, 1)}</row>` }], {
        formats,
        is1904: true
      })
      assert.include((yield* parsed("mac.xlsx", mac)).text, "2026-05-03")
    })
  )

  const SHOWN: ReadonlyArray<readonly [format: string | number, value: number, shown: string]> = [
    ['#,##0.00 "EUR"', 4200.5, "4,200.50 EUR"],
    ["[$EUR] #,##0.00", 4200.5, "EUR 4,200.50"],
    ["#,##0\\ \\E", 4200, "4,200 E"],
    ['#,##0,"K"', 1234567, "1,235K"],
    ['0.0,,"M"', 1234567, "1.2M"],
    ["0,.0", 1234567, "1234.6"],
    ['0.00"%"', 12.5, "12.50%"],
    ["0.0#", 1.5, "1.5"],
    ['0.0" days"', 1.25, "1.3 days"],
    ["[h]:mm", 1.25, "30:00"],
    ["[h]:mm:ss", 1.25, "30:00:00"],
    ["[mm]:ss", 0.0625, "90:00"],
    ["[hh]:mm", 0.0625, "01:30"],
    ["[h]:mm", -1.25, "-30:00"],
    [46, 1.25, "30:00:00"],
    ["[Red]h:mm", 0.25, "06:00"],
    ['0" days";"d"', 3, "3 days"]
  ]
  for (const [format, value, shown] of SHOWN)
    it.effect(`shows ${value} in the format ${format} as ${shown}`, () =>
      Effect.gen(function* () {
        const rows = `<row r="1">${numberCell("A1", value)}</row>`
        const { text } = yield* parsed("n.xlsx", xlsx([{ name: "N", rows }], { formats: [format] }))
        assert.strictEqual(text, `N\n\n${shown}`)
      })
    )

  it.effect("has shared texts without phonetic guides, results of formulas, and truth values", () =>
    Effect.gen(function* () {
      const strings = ["<r><t>Lock </t></r><r><t>gate</t></r><rPh><t>ロック</t></rPh>", "a &amp; b"]
      const rows = `<row r="3"><c r="B3" t="s"><v>0</v></c><c r="C3" t="s"><v>1</v></c><c r="D3" t="str"><f>A1&amp;"x"</f><v>sum x</v></c><c r="E3" t="b"><v>1</v></c><c r="F3"><f>6*7</f><v>42</v></c></row>`
      const document = yield* parsed("s.xlsx", xlsx([{ name: "S", rows }], { strings }))
      assert.deepStrictEqual(places(document), [["Lock gate | a & b | sum x | TRUE | 42", "S!B3:F3"]])
    })
  )

  it.effect("repeats merged cells, keeps titles apart, and joins rows of figures after a blank one", () =>
    Effect.gen(function* () {
      const rows = `<row r="1">${textCell("A1", "Fees of 2026")}</row><row r="2">${textCell("A2", "Berth")}${textCell("B2", "Fee")}</row><row r="3">${textCell("A3", "Quay")}${numberCell("B3", 50)}</row><row r="4">${numberCell("B4", 60)}</row><row r="6">${textCell("A6", "Total")}${numberCell("B6", 110)}</row>`
      const after = `<mergeCells><mergeCell ref="A1:B1"/><mergeCell ref="A3:A4"/></mergeCells>`
      const document = yield* parsed("m.xlsx", xlsx([{ name: "M", rows, after }]))
      assert.strictEqual(document.text, "M\n\nFees of 2026\n\nBerth | Fee\nQuay | 50\nQuay | 60\nTotal | 110")
      assert.strictEqual(places(document).at(-1)?.[1], "M!A6:B6")
    })
  )

  it.effect("leaves hidden sheets out, and says so", () =>
    Effect.gen(function* () {
      const rows = textRows(FEES)
      const hidden = [
        { name: "Shown", rows },
        { name: "Secret", rows: textRows([["pin", "1234"]]), state: "veryHidden" }
      ]
      const document = yield* parsed("h.xlsx", xlsx(hidden))
      assert.notInclude(document.text, "1234")
      assert.match(document.faults[0]?.message ?? "", /Secret is hidden/)
    })
  )

  it.effect("of another kind is rejected by name", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(parse({ path: "t.xlsx", bytes: openDocument("text", "") }))
      assert.strictEqual(error.reason, "Empty")
      const old = yield* Effect.flip(
        parse({ path: "o.xlsx", bytes: Uint8Array.from([0xd0, 0xcf, 0x11, 0xe0, 1, 2, 3]) })
      )
      assert.match(old.message, /old Excel file.*\.xlsx/)
    })
  )
})

it.effect("an OpenDocument spreadsheet has what its cells show, where they are", () =>
  Effect.gen(function* () {
    const cell = (text: string, attributes = "") =>
      `<table:table-cell ${attributes}><text:p>${text}</text:p></table:table-cell>`
    const styles = `<style:style style:name="h" style:family="table"><style:table-properties table:display="false"/></style:style>`
    const body = `<table:table table:name="Fees"><table:table-row table:number-rows-repeated="2"><table:table-cell table:number-columns-repeated="9"/></table:table-row><table:table-row><table:table-cell/>${cell("Berth")}${cell("Fee")}</table:table-row><table:table-row><table:table-cell/>${cell("Quay", 'table:number-rows-spanned="2"')}${cell("50 €<office:annotation><text:p>a comment</text:p></office:annotation>")}</table:table-row><table:table-row><table:table-cell/><table:covered-table-cell/>${cell("60<text:s/>€")}</table:table-row><table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table><table:table table:name="Secret" table:style-name="h"><table:table-row>${cell("1234")}</table:table-row></table:table>`
    const document = yield* parsed("fees.ods", openDocument("spreadsheet", body, { styles }))
    assert.deepStrictEqual(places(document), [
      ["Berth | Fee", "Fees!B3:C3"],
      ["Quay | 50 €", "Fees!B4:C4"],
      ["Quay | 60 €", "Fees!B5:C5"]
    ])
    assert.notInclude(document.text, "1234")
  })
)

describe("a CSV file", () => {
  it.effect("has its rows, with quoted delimiters and line breaks, by number", () =>
    Effect.gen(function* () {
      const document = yield* parsed(
        "a.csv",
        utf8('\uFEFFname;note\r\n"Quay; old";"two\nlines ""here"""\r\n')
      )
      assert.deepStrictEqual(places(document), [
        ["name | note", "row 1"],
        ['Quay; old | two lines "here"', "row 2"]
      ])
    })
  )

  it.effect("keeps all cells of a table's row, also if they are equal or the first are empty", () =>
    Effect.gen(function* () {
      const { figures, text } = yield* parsed("a.csv", utf8("from,to,fee\nKiel,Kiel,\n7,7,7\n,,50\n"))
      assert.strictEqual(text, "from | to | fee\nKiel | Kiel\n7 | 7 | 7\n|  | 50")
      assert.deepStrictEqual(figures[0]?.rows?.slice(1), [
        ["Kiel", "Kiel", ""],
        ["7", "7", "7"],
        ["", "", "50"]
      ])
    })
  )

  it.effect("keeps all cells of a first row of equal words, which only a merged cell makes a title", () =>
    Effect.gen(function* () {
      const { text } = yield* parsed("a.csv", utf8("Kiel,Kiel,Kiel\nfrom,to,fee\n7,8,9\n"))
      assert.strictEqual(text, "Kiel | Kiel | Kiel\nfrom | to | fee\n7 | 8 | 9")
      const rows = textRows([["Kiel", "Kiel"]])
      const document = yield* parsed("one.xlsx", xlsx([{ name: "S", rows }]))
      assert.strictEqual(document.text, "S\n\nKiel | Kiel")
    })
  )

  it.effect("joins figures to their header over a blank row, also if the first ones are equal", () =>
    Effect.gen(function* () {
      const { figures, text } = yield* parsed(
        "a.csv",
        utf8("Squares,,\n,,\n,Number,Square\n,,\n,1,1\n,2,4\n")
      )
      assert.strictEqual(text, "Squares\n\nNumber | Square\n1 | 1\n2 | 4")
      assert.deepStrictEqual(figures[0]?.rows?.[1], ["1", "1"])
    })
  )

  it.effect("with open quotes keeps its text", () =>
    Effect.gen(function* () {
      const { text } = yield* parsed("a.tsv", utf8('size\tname\n5"\tQuay\n"6\tMole\n'))
      assert.strictEqual(text, 'size | name\n5" | Quay\n"6 | Mole')
    })
  )
})
