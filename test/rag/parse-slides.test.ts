/** Presentations: a section for each slide, with its number as the place of a citation. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chunk } from "../../packages/rag/src/chunking/Chunker.ts"
import { parse } from "../../packages/rag/src/formats/ParsedFile.ts"
import { png } from "./DocxWriter.ts"
import { brokenLaw } from "./FigureLaws.ts"
import { openDocument, pptx, shape } from "./OfficeWriter.ts"

const parsed = (path: string, bytes: Uint8Array) =>
  Effect.map(parse({ path, bytes }), (document) => {
    assert.isUndefined(brokenLaw(document))
    return document
  })

const placesOf = (document: Parameters<typeof chunk>[0]) =>
  chunk(document).map(({ headings, locator }) => [headings.join(" › "), locator])

const cell = (text: string, attributes = "") =>
  `<a:tc ${attributes}><a:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></a:txBody></a:tc>`
const TABLE = `<p:graphicFrame><a:tbl><a:tr>${cell("Berth")}${cell("Fee")}</a:tr><a:tr>${cell("Quay", 'rowSpan="2"')}${cell("50")}</a:tr><a:tr>${cell("", 'vMerge="1"')}${cell("60")}</a:tr></a:tbl></p:graphicFrame>`
const PICTURE = `<p:pic><p:nvPicPr><p:cNvPr id="4" name="Picture 3" descr="The lower gate"/></p:nvPicPr><p:blipFill><a:blip r:embed="p"/></p:blipFill></p:pic>`

describe("a PowerPoint file", () => {
  it.effect("has a section for each slide, with lists, tables, pictures and notes", () =>
    Effect.gen(function* () {
      const document = yield* parsed(
        "deck.pptx",
        pptx(
          [
            { shapes: shape(["Fees of", "2026"], "ctrTitle") + shape(["3"], "sldNum") },
            {
              shapes:
                shape(["Mooring", [1, "by night"], "Casting"], "body") +
                shape(["Costs"], "title") +
                `<mc:AlternateContent><mc:Choice>${shape(["A box"])}</mc:Choice><mc:Fallback>${shape(["Twice"])}</mc:Fallback></mc:AlternateContent>`,
              notes: "Say it slowly."
            },
            { shapes: TABLE + PICTURE },
            { shapes: shape(["Secret"], "title"), hidden: true },
            { shapes: shape(["Last"], "title") }
          ],
          { title: "PowerPoint-Präsentation", more: [{ name: "ppt/media/p.png", content: png(40, 30) }] }
        )
      )
      assert.strictEqual(document.title, "Fees of 2026")
      assert.strictEqual(
        document.text,
        "Fees of 2026\n\nCosts\n\n- Mooring\n  - by night\n- Casting\n\nA box\n\nNotes: Say it slowly.\n\nSlide 3\n\nBerth | Fee\nQuay | 50\nQuay | 60\n\nThe lower gate\n\nLast"
      )
      assert.deepStrictEqual(placesOf(document), [
        ["Fees of 2026", "slide 1"],
        ["Costs", "slide 2"],
        ["Slide 3", "slide 3"],
        ["Slide 3", "slide 3"],
        ["Last", "slide 5"]
      ])
      assert.strictEqual(document.figures[1]?.crop?.length, png(40, 30).length)
      assert.match(document.faults[0]?.message ?? "", /Slide 4 is hidden/)
    })
  )
})

it.effect("an OpenDocument presentation has a section for each slide", () =>
  Effect.gen(function* () {
    const frame = (kind: string, inner: string) =>
      `<draw:frame presentation:class="${kind}"><draw:text-box>${inner}</draw:text-box></draw:frame>`
    const body = `<draw:page draw:name="p1">${frame("title", "<text:p>Costs</text:p>")}${frame("outline", "<text:list text:style-name='L1'><text:list-item><text:p>Mooring</text:p></text:list-item></text:list><text:list text:style-name='L2'><text:list-item><text:p>Casting</text:p></text:list-item></text:list><text:list><text:list-item><text:p/></text:list-item></text:list>")}${frame("page-number", "<text:p>9</text:p>")}<presentation:notes>${frame("notes", "<text:p>Say it slowly.</text:p>")}</presentation:notes></draw:page><draw:page><draw:frame draw:name="Table 1"><table:table><table:table-row><table:table-cell><text:p>Berth</text:p></table:table-cell><table:table-cell><text:p>Fee</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell><text:p>Q1</text:p></table:table-cell><table:table-cell><text:p>50</text:p></table:table-cell></table:table-row></table:table><draw:image xlink:href="Pictures/preview.png"/></draw:frame><draw:frame draw:name="Image1"><draw:image xlink:href="Pictures/a.png"/><svg:desc>The lower gate</svg:desc></draw:frame></draw:page>`
    const more = [{ name: "Pictures/a.png", content: png(40, 30) }]
    const document = yield* parsed("deck.odp", openDocument("presentation", body, { title: "Fees", more }))
    assert.strictEqual(
      document.text,
      "Costs\n\n- Mooring\n- Casting\n\nNotes: Say it slowly.\n\nSlide 2\n\nBerth | Fee\nQ1 | 50\n\nThe lower gate"
    )
    assert.deepStrictEqual(placesOf(document), [
      ["Costs", "slide 1"],
      ["Slide 2", "slide 2"],
      ["Slide 2", "slide 2"]
    ])
    assert.strictEqual(document.title, "Fees")
  })
)

it.effect("an OpenDocument presentation leaves hidden slides out, and says so", () =>
  Effect.gen(function* () {
    const page = (style: string, text: string) =>
      `<draw:page draw:style-name="${style}"><draw:frame presentation:class="title"><draw:text-box><text:p>${text}</text:p></draw:text-box></draw:frame></draw:page>`
    const styles = `<style:style style:name="dp1" style:family="drawing-page"><style:drawing-page-properties presentation:visibility="visible"/></style:style><style:style style:name="dp2" style:family="drawing-page"><style:drawing-page-properties presentation:visibility="hidden"/></style:style>`
    const body = page("dp1", "Costs") + page("dp2", "Secret") + page("dp1", "Last")
    const document = yield* parsed("deck.odp", openDocument("presentation", body, { styles }))
    assert.deepStrictEqual(placesOf(document), [
      ["Costs", "slide 1"],
      ["Last", "slide 3"]
    ])
    assert.deepStrictEqual(document.faults, [{ message: "Slide 2 is hidden, and was left out." }])
  })
)

it.effect("an OpenDocument text has headings, numbered lists, tables, captions, notes and pictures", () =>
  Effect.gen(function* () {
    const styles = `<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1"/></text:list-style>`
    const cell = (text: string, attributes = "") =>
      `<table:table-cell ${attributes}><text:p>${text}</text:p></table:table-cell>`
    const body = [
      `<text:sequence-decls><text:sequence-decl text:name="Figure"/></text:sequence-decls>`,
      `<text:tracked-changes><text:p>Never</text:p></text:tracked-changes>`,
      `<text:table-of-content><text:index-body><text:p>Fees 1</text:p></text:index-body></text:table-of-content>`,
      `<text:h text:outline-level="1">Fees</text:h>`,
      `<text:p>Mooring<text:s/>costs<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>By night.</text:p></text:note-body></text:note> 50 crowns.<office:annotation><text:p>Never</text:p></office:annotation></text:p>`,
      `<text:list text:style-name="L1"><text:list-item><text:p>Ask</text:p></text:list-item><text:list-item><text:p>Pay</text:p></text:list-item></text:list>`,
      `<table:table><table:table-row>${cell("Berth")}${cell("Fee")}</table:table-row><table:table-row>${cell("Quay", 'table:number-rows-spanned="2"')}${cell("50")}</table:table-row><table:table-row><table:covered-table-cell/>${cell("60")}</table:table-row></table:table>`,
      `<text:p><draw:frame><draw:text-box><text:p><draw:frame draw:name="Image1"><draw:image xlink:href="Pictures/a.png"/></draw:frame>Figure <text:sequence text:name="Figure">1</text:sequence>: The gate</text:p></draw:text-box></draw:frame></text:p>`,
      `<text:bibliography><text:bibliography-source><text:index-title-template>Never</text:index-title-template></text:bibliography-source><text:index-body><text:p>Berg: Locks, 1901</text:p></text:index-body></text:bibliography>`
    ].join("")
    const more = [{ name: "Pictures/a.png", content: png(40, 30) }]
    const document = yield* parsed("fees.odt", openDocument("text", body, { styles, more }))
    assert.strictEqual(
      document.text,
      "Fees\n\nMooring costs[1] 50 crowns.\n\n[1] By night.\n\n1. Ask\n2. Pay\n\nBerth | Fee\nQuay | 50\nQuay | 60\n\nFigure 1: The gate\n\nPicture 1\n\nBerg: Locks, 1901"
    )
    const [table, figure] = document.figures
    assert.deepStrictEqual(table?.rows, [
      ["Berth", "Fee"],
      ["Quay", "50"],
      ["Quay", "60"]
    ])
    assert.strictEqual(figure?.number, "1")
    assert.isDefined(figure?.crop)
  })
)
