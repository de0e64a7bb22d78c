/** Parsing of Word documents, and the advice for those that are rejected. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Parsed } from "../../packages/rag/src/document/Document.ts"
import { parse } from "../../packages/rag/src/formats/ParsedFile.ts"
import { docx, docxParts, drawing, listed, p, png, r, styled, table, tc } from "./DocxWriter.ts"
import { zip } from "./ZipWriter.ts"

const read = (body: string, parts?: Parameters<typeof docx>[1]) =>
  parse({ path: "a.docx", bytes: docx(body, parts) })
const outline = ({ blocks, text }: Parsed) =>
  blocks.map(({ end, kind, level, start }) => [kind + (level ?? ""), text.slice(start, end)])
const sequence = (name: string, n: number): string =>
  `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> SEQ ${name} \\* ARABIC </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>${r(String(n))}`
const box = (text: string): string => `<w:txbxContent>${p(text)}</w:txbxContent>`

describe("a Word document", () => {
  it.effect("has headings by outline level, style and inherited style", () =>
    Effect.gen(function* () {
      const parsed = yield* read(
        [
          p("Lock", styled("Title")),
          p("Contents … 1", styled("TOC1")),
          p("One", styled("Heading1")),
          p("Zwei", styled("berschrift2")),
          p("三", styled("3")),
          p("Mine", styled("Mine")),
          p("By level", `<w:outlineLvl w:val="1"/>`),
          p("No heading", `${styled("Heading1")}<w:outlineLvl w:val="9"/>`),
          p("a style that is based on itself", styled("Loop"))
        ].join("")
      )
      assert.deepStrictEqual(outline(parsed), [
        ["heading1", "Lock"],
        ["heading1", "One"],
        ["heading2", "Zwei"],
        ["heading3", "三"],
        ["heading1", "Mine"],
        ["heading2", "By level"],
        ["paragraph", "No heading"],
        ["paragraph", "a style that is based on itself"]
      ])
      assert.strictEqual(parsed.title, "Lock")
      assert.strictEqual((yield* read(p("x"), { title: "Of the file" })).title, "Of the file")
      assert.strictEqual((yield* read(p("x"), { title: "Microsoft Word - draft.doc" })).title, "a")
    })
  )

  it.effect("has clauses in the style of headings as text", () =>
    Effect.gen(function* () {
      const clause = "The tenant pays the rent on the first day of each month."
      const parsed = yield* read(
        [
          p("Rent and charges.", styled("Heading1")),
          p(clause, styled("berschrift2")),
          p(clause, `${styled("berschrift2")}${listed(1)}`),
          p("What the tenant may do after the end of the first year", styled("berschrift2"))
        ].join("")
      )
      assert.deepStrictEqual(outline(parsed), [
        ["heading1", "Rent and charges."],
        ["paragraph", clause],
        ["list", `1. ${clause}`],
        ["heading2", "What the tenant may do after the end of the first year"]
      ])
    })
  )

  it.effect("has the list numbers that Word shows", () =>
    Effect.gen(function* () {
      const parsed = yield* read(
        [
          p("one", listed(1)),
          p("two", listed(1)),
          p("under two", listed(1, 1)),
          p("again", listed(1, 1)),
          p("deep", listed(1, 2)),
          p("three", listed(1)),
          p("under three", listed(1, 1)),
          p("anew", listed(4)),
          p("bullet", styled("ListBullet")),
          p("甲", listed(3)),
          p("乙", listed(3)),
          p("not in a list", listed(0))
        ].join("")
      )
      assert.deepStrictEqual(outline(parsed), [
        [
          "list",
          "1. one\n2. two\n  a) under two\n  b) again\n    2.I deep\n3. three\n  a) under three\n1. anew\n- bullet\n第一条 甲\n第二条 乙"
        ],
        ["paragraph", "not in a list"]
      ])
    })
  )

  it.effect("has figures and tables with captions, numbers, cells, pictures and mentions", () =>
    Effect.gen(function* () {
      const picture = png(60, 40)
      const parsed = yield* read(
        [
          p("Intro", styled("Heading1")),
          p("Levels are in Table 2."),
          p("Gates are in Figure 1."),
          p(drawing("p1", "A drawing of gates")),
          p(`${r("Figure ")}${sequence("Figure", 1)}${r(" Gates by year")}`),
          p(`${r("Table ")}${sequence("Table", 2)}${r(": Levels")}`, styled("Caption")),
          table([
            [tc("Place"), tc("2013", `<w:gridSpan w:val="2"/>`)],
            [tc("Upper", `<w:vMerge w:val="restart"/>`), tc("1"), tc("2")],
            [tc("", `<w:vMerge/>`), tc("3"), tc(p("4") + p("five"))]
          ]),
          p("After.")
        ].join(""),
        { pictures: { p1: picture } }
      )
      assert.deepStrictEqual(outline(parsed).slice(3, 5), [
        ["figure", "A drawing of gates\n\nFigure 1 Gates by year"],
        ["table", "Table 2: Levels\n\nPlace | 2013\nUpper | 1 | 2\nUpper | 3 | 4 five"]
      ])
      const slice = (span: { start: number; end: number } | undefined) =>
        span && parsed.text.slice(span.start, span.end)
      const [figure, levels] = parsed.figures
      assert.deepInclude(figure, { kind: "figure", number: "1", alternative: "A drawing of gates" })
      assert.deepStrictEqual(figure?.crop && Uint8Array.from(figure.crop), picture)
      assert.strictEqual(slice(figure?.caption), "Figure 1 Gates by year")
      assert.deepStrictEqual(figure?.mentions.map(slice), ["Gates are in Figure 1."])
      assert.deepInclude(levels, { kind: "table", number: "2" })
      assert.deepStrictEqual(levels?.rows, [
        ["Place", "2013", "2013"],
        ["Upper", "1", "2"],
        ["Upper", "3", "4 five"]
      ])
      assert.strictEqual(slice(levels?.caption), "Table 2: Levels")
      assert.deepStrictEqual(levels?.mentions.map(slice), ["Levels are in Table 2."])
      assert.deepStrictEqual(parsed.faults, [])
    })
  )

  it.effect("joins paragraphs with deleted marks, and has no deleted rows", () =>
    Effect.gen(function* () {
      const marked = (mark: string, runs: string, properties = "") =>
        `<w:p><w:pPr>${properties}<w:rPr><w:${mark} w:id="1"/></w:rPr></w:pPr>${runs}</w:p>`
      const gone = `<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>`
      const row = (cells: string, properties = "") => `<w:tr>${properties}${cells}</w:tr>`
      const rows = [
        row(tc("Boat") + tc("Fee")),
        row(tc(gone) + tc(gone), `<w:trPr><w:del w:id="2"/></w:trPr>`),
        row(tc(marked("del", r("Last in its cell"))) + tc(marked("del", r("20 ")) + p("euro"))),
        row("", "<w:trPr/>")
      ]
      const parsed = yield* read(
        [
          marked("del", r("First ")),
          marked("moveFrom", r("second "), `<w:pStyle w:val="Heading1"/>`),
          p("third."),
          marked(
            "del",
            r("Host ") + `<w:r><w:pict><v:textbox>${box("in the box")}</v:textbox></w:pict></w:r>`
          ),
          p("goes on"),
          marked("del", r("Before the table")),
          `<w:tbl>${rows.join("")}</w:tbl>`,
          gone,
          marked("del", r("At the end"))
        ].join("")
      )
      assert.strictEqual(
        parsed.text,
        [
          "First second third.",
          "Host goes on",
          "in the box",
          "Before the table",
          "Boat | Fee\nLast in its cell | 20 euro",
          "At the end"
        ].join("\n\n")
      )
    })
  )

  it.effect("has insertions, links, notes, text boxes and formulas, but no deleted or hidden text", () =>
    Effect.gen(function* () {
      const inserted = `<w:ins>${r("inserted ")}</w:ins><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:moveFrom>${r("gone")}</w:moveFrom>`
      const hidden = `<w:r><w:rPr><w:vanish/></w:rPr><w:t>gone</w:t></w:r>`
      const choice = `<mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:anchor><wp:docPr id="1" name="Box"/>${box("in the box")}</wp:anchor></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox>${box("gone")}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent>`
      const formula = `<m:oMath><m:r><m:t>Q=</m:t></m:r><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>c</m:t></m:r></m:den></m:f><m:rad><m:deg/><m:e><m:r><m:t>2gh</m:t></m:r></m:e></m:rad><m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub><m:r><m:t>i=1</m:t></m:r></m:sub><m:sup><m:r><m:t>n</m:t></m:r></m:sup><m:e><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:e></m:nary></m:oMath>`
      const parsed = yield* read(
        [
          p(
            `${r("kept ")}${inserted}<w:hyperlink r:id="x">${r("linked")}</w:hyperlink>${hidden}<w:r><w:footnoteReference w:id="2"/></w:r>`
          ),
          p(`${r("host ")}<w:r>${choice}</w:r>${r("goes on")}`),
          p(formula),
          p(r("שלום עולם"), "<w:bidi/>"),
          p("a &lt; b &amp; c &#27700;")
        ].join(""),
        {
          footnotes: `<w:footnote w:id="2">${p(`${r("The note.")}<w:moveFrom>${r("gone")}</w:moveFrom>`)}</w:footnote>`
        }
      )
      assert.deepStrictEqual(
        outline(parsed).map(([, text]) => text),
        [
          "kept inserted linked[2]",
          "[2] The note.",
          "host goes on",
          "in the box",
          "Q=(a+b)/c√(2gh)∑_(i=1)^n x^2",
          "שלום עולם",
          "a < b & c 水"
        ]
      )
    })
  )

  it.effect("has the text of charts and diagrams, and captions of tables with one row", () =>
    Effect.gen(function* () {
      const c = "http://schemas.openxmlformats.org/drawingml/2006/chart"
      const a = "http://schemas.openxmlformats.org/drawingml/2006/main"
      const points = (...values: ReadonlyArray<string>) =>
        values.map((value, i) => `<c:pt idx="${i}"><c:v>${value}</c:v></c:pt>`).join("")
      const chart = `<c:chartSpace xmlns:c="${c}" xmlns:a="${a}"><c:title><a:p><a:r><a:t>Lockings</a:t></a:r></a:p></c:title><c:ser><c:tx>${points("2024")}</c:tx><c:cat>${points("April", "May")}</c:cat><c:val>${points("512", "734")}</c:val></c:ser></c:chartSpace>`
      const diagram = `<dgm:dataModel xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" xmlns:a="${a}"><a:p><a:t>Lock</a:t></a:p><a:p><a:t>Weir</a:t></a:p></dgm:dataModel>`
      const drawn = (inner: string) =>
        `<w:r><w:drawing><wp:inline><wp:docPr id="1" name="Chart 1"/>${inner}</wp:inline></w:drawing></w:r>`
      const parsed = yield* read(
        [
          p(drawn(`<c:chart xmlns:c="${c}" r:id="chart1"/>`)),
          p("Figure 1: Boats", styled("Caption")),
          p(
            drawn(`<d:relIds xmlns:d="http://schemas.openxmlformats.org/drawingml/2006/diagram" r:dm="dm1"/>`)
          ),
          p("Table 1: A row", styled("Caption")),
          table([[tc("one"), tc("two")]]),
          p("Between."),
          table([[tc("no"), tc("caption")]])
        ].join(""),
        { drawn: { chart1: ["chart", chart], dm1: ["diagramData", diagram] } }
      )
      assert.deepStrictEqual(outline(parsed), [
        ["figure", "Lockings\n2024: April 512, May 734\n\nFigure 1: Boats"],
        ["figure", "Lock\nWeir"],
        ["table", "Table 1: A row\n\none | two"],
        ["paragraph", "Between."],
        ["table", "no | caption"]
      ])
      assert.deepStrictEqual(
        parsed.figures.map(({ kind, number }) => [kind, number]),
        [
          ["figure", "1"],
          ["figure", undefined],
          ["table", "1"]
        ]
      )
      assert.deepStrictEqual(parsed.faults, [])
    })
  )

  it.effect("may have nested tables and other namespace prefixes", () =>
    Effect.gen(function* () {
      const inner = table([
        [tc("n1"), tc("n2")],
        [tc("n3"), tc("n4")]
      ])
      const body = p("before") + table([[tc(inner + p("beside")), tc("outer")]]) + p("after")
      const usual = yield* read(body)
      assert.deepStrictEqual(outline(usual), [
        ["paragraph", "before"],
        ["table", "n1 | n2\nn3 | n4"],
        ["paragraph", "beside"],
        ["paragraph", "outer"],
        ["paragraph", "after"]
      ])
      const strict = docxParts(body).map(({ content, name }) => ({
        name,
        content: String(content)
          .replaceAll(/(<\/?|\s|xmlns:)w:/g, "$1ns0:")
          .replaceAll("xmlns:w=", "xmlns:ns0=")
          .replaceAll(
            "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
            "http://purl.oclc.org/ooxml/wordprocessingml/main"
          )
      }))
      assert.deepStrictEqual(outline(yield* parse({ path: "a.docx", bytes: zip(strict) })), outline(usual))
    })
  )

  it.effect("opens no external references, and reports them as faults", () =>
    Effect.gen(function* () {
      const prolog = `<!DOCTYPE x [<!ENTITY file SYSTEM "file:///etc/passwd"><!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>`
      const parsed = yield* read(
        p(`${r("see &file; &b;")}`) +
          p(drawing("far", "Far away", "link")) +
          p(drawing("disk", "On the disk", "link")) +
          p(drawing("bad", "Not a picture")) +
          p(drawing("none", "No such part")),
        {
          prolog,
          pictures: {
            far: "https://example.org/x.png",
            disk: "file:///etc/passwd",
            bad: Uint8Array.from([1, 2, 3])
          }
        }
      )
      assert.include(parsed.text, "see &file; &b;")
      assert.deepStrictEqual(
        parsed.figures.map(({ alternative, crop }) => [alternative, crop]),
        [
          ["Far away", undefined],
          ["On the disk", undefined],
          ["Not a picture", undefined],
          ["No such part", undefined]
        ]
      )
      const faults = parsed.faults.map(({ message }) => message).join("\n")
      for (const expected of [
        /network/,
        /not given/,
        /bad\.png.*unknown format/,
        /none.*not in the document/
      ])
        assert.match(faults, expected)
    })
  )
})

describe("parse, of invalid Word documents", () => {
  const rejects = (name: string, bytes: () => Uint8Array, reason: string, advice: RegExp) =>
    it.effect(`rejects ${name}`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(parse({ path: "bad.docx", bytes: bytes() }))
        assert.strictEqual(error.reason, reason, error.message)
        assert.match(error.message, advice)
        assert.include(error.message, "bad.docx")
      })
    )
  const whole = docx(p("hello"))
  const ole = (words: string) =>
    Uint8Array.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, ...Buffer.from(words, "utf16le")])
  const bomb = "<w:p/>".repeat(1_000_000)

  rejects(
    "a truncated container",
    () => whole.subarray(0, whole.length - 40),
    "Malformed",
    /this file is damaged.*Download/
  )
  rejects(
    "a ZIP without a Word document",
    () => zip([{ name: "a.txt", content: "x" }]),
    "Malformed",
    /no Word document/
  )
  rejects("an encrypted document", () => ole("EncryptedPackage"), "Encrypted", /password/)
  rejects(
    "an encrypted container",
    () => zip(docxParts(p("x")).map((part) => ({ ...part, flags: 1 }))),
    "Encrypted",
    /password/
  )
  rejects("a .doc file", () => ole("WordDocument"), "Malformed", /old Word file.*\.docx/)
  rejects(
    "text named .docx",
    () => new TextEncoder().encode("Dear all"),
    "Malformed",
    /not a valid Word file/
  )
  rejects("a ZIP bomb", () => docx(bomb), "TooLarge", /inflates/)
  rejects(
    "a ZIP bomb that states a small size",
    () =>
      zip(
        docxParts(bomb).map((part) => (part.name === "word/document.xml" ? { ...part, size: 1_000 } : part))
      ),
    "Malformed",
    /damaged/
  )
  rejects(
    "a container with too many parts",
    () => {
      const many = Uint8Array.from(whole)
      many.set([0xfe, 0xff, 0xfe, 0xff], many.length - 14)
      return many
    },
    "TooLarge",
    /65534 parts/
  )
  rejects("deeply nested elements", () => docx("<w:sdt>".repeat(50_000)), "Malformed", /nested/)
  rejects("a document without text", () => docx("<w:p/>"), "Empty", /no text/)
})
