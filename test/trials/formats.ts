/** Damaged documents of every format: each is parsed into a valid document or rejected with a reason. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import sharp from "sharp"
import type { Random } from "../../bench/corpus/Random.ts"
import { docxParts } from "../rag/DocxWriter.ts"
import { epubParts, mail } from "../rag/MailWriter.ts"
import { numberCell, openDocumentParts, pptxParts, shape, textRows, xlsxParts } from "../rag/OfficeWriter.ts"
import { randomDocxBody, randomHtmlFigures, randomMarkdownFigures } from "../rag/RandomDocument.ts"
import { zip, type ZipPart } from "../rag/ZipWriter.ts"
import { damaged, damagedContainer, parsedOrRefused } from "./damaged.ts"
import type { Trial } from "./Trial.ts"

const chart = readFileSync(join(import.meta.dirname, "../embedded/fixtures/boats.png"))
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

let encoded: Promise<{ readonly jpeg: Uint8Array; readonly webp: Uint8Array }> | undefined
const images = () =>
  (encoded ??= (async () => ({
    jpeg: await sharp(chart)
      .withExif({ IFD0: { Copyright: "x" } })
      .jpeg()
      .toBuffer(),
    webp: await sharp(chart).webp().toBuffer()
  }))())

const cell = (text: string) => `<table:table-cell><text:p>${text}</text:p></table:table-cell>`
const TABLE = `<table:table table:name="Fees"><table:table-row>${cell("Berth")}${cell("Fee")}</table:table-row><table:table-row>${cell("Q1")}${cell("50")}</table:table-row></table:table>`
const ODT = `<text:h text:outline-level="1">Fees</text:h><text:p>Mooring<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>By night.</text:p></text:note-body></text:note></text:p><text:list><text:list-item><text:p>Ask</text:p></text:list-item></text:list>${TABLE}<text:p><draw:frame><draw:image xlink:href="Pictures/a.png"/></draw:frame></text:p>`
const SLIDE = `<draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>Fees</text:p></draw:text-box></draw:frame>${ODT}</draw:page>`
const PICTURE: ZipPart = { name: "Pictures/a.png", content: chart }

const xlsxDocument = () =>
  xlsxParts(
    [
      {
        name: "Fees",
        rows: `${textRows([["Berth", "Fee"]])}<row r="2"><c r="A2" t="s"><v>0</v></c>${numberCell("B2", 46145, 1)}</row>`,
        after: `<mergeCells><mergeCell ref="A2:A3"/></mergeCells>`
      }
    ],
    { strings: ["Quay"], formats: [0, "yyyy-mm-dd", '#,##0.00" €"'] }
  )
const mailDocument = () =>
  mail(
    {
      From: "a@example.org",
      To: "=?utf-8?Q?J=C3=B8rn?= <b@example.org>",
      Date: "Sun, 3 May 2026 08:00:00 +0000",
      Subject: "Fees"
    },
    { html: "<p>Dear Anna</p><table><tr><td>a</td><td>b</td></tr></table>" },
    [{ name: "fees.xlsx", bytes: zip(xlsxDocument()) }]
  )

/** Damages a document of a format: the whole file, or one part inside it. */
const makers: Readonly<Record<string, (random: Random) => Uint8Array | Promise<Uint8Array>>> = {
  docx: (random) =>
    damagedContainer(random, docxParts(randomDocxBody(random.between(1, 1e6)), { pictures: { p0: chart } })),
  xlsx: (random) => damagedContainer(random, xlsxDocument()),
  ods: (random) => damagedContainer(random, openDocumentParts("spreadsheet", TABLE)),
  odt: (random) => damagedContainer(random, openDocumentParts("text", ODT, { more: [PICTURE] })),
  odp: (random) => damagedContainer(random, openDocumentParts("presentation", SLIDE, { more: [PICTURE] })),
  pptx: (random) =>
    damagedContainer(
      random,
      pptxParts([
        { shapes: shape(["Fees"], "title") + shape(["Mooring", [1, "by night"]], "body"), notes: "Slowly." }
      ])
    ),
  epub: (random) =>
    damagedContainer(
      random,
      epubParts(
        "Lock",
        { "a.xhtml": "<h1>Gate</h1><p>It opens.</p>", "b.xhtml": "<p>It closes.</p>" },
        { "b.xhtml": "End" }
      )
    ),
  zip: (random) =>
    damagedContainer(random, [
      { name: "a.md", content: randomMarkdownFigures(random.between(1, 1e6)) },
      { name: "b.xlsx", content: zip(xlsxDocument()) },
      { name: "c.eml", content: mailDocument() },
      { name: "d.png", content: chart }
    ]),
  eml: (random) => damaged(random, utf8(mailDocument())),
  mbox: (random) => damaged(random, utf8(`From a\n${mailDocument()}\r\nFrom b\n${mailDocument()}`)),
  ipynb: (random) =>
    damaged(
      random,
      utf8(
        JSON.stringify({
          cells: [
            { cell_type: "markdown", source: randomMarkdownFigures(random.between(1, 1e6)) },
            {
              cell_type: "code",
              source: ["a"],
              outputs: [
                {
                  data: {
                    "text/html": "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>"
                  }
                },
                { text: "b" }
              ]
            }
          ]
        })
      )
    ),
  srt: (random) => damaged(random, utf8("1\n00:00:01,000 --> 00:00:02,000\n<i>The gate</i>\n\n".repeat(20))),
  vtt: (random) =>
    damaged(random, utf8("WEBVTT\n\n00:01.000 --> 00:02.000\n<v Anna>The gate\n\n".repeat(20))),
  jsonl: (random) => damaged(random, utf8('{"a": {"b": [1, 2]}, "c": "The gate"}\n'.repeat(20))),
  csv: (random) => damaged(random, utf8('a;b\n"c; d";"e\nf"\n1;2\n'.repeat(20))),
  html: (random) => damaged(random, utf8(randomHtmlFigures(random.between(1, 1e6)))),
  md: (random) => damaged(random, utf8(randomMarkdownFigures(random.between(1, 1e6)))),
  png: (random) => damaged(random, chart),
  jpg: async (random) => damaged(random, (await images()).jpeg),
  webp: async (random) => damaged(random, (await images()).webp)
}
const endings = Object.keys(makers) as [string, ...Array<string>]

export const formats: Trial = async (random) => {
  const ending = random.pick(endings)
  const bytes = await makers[ending]!(random)
  const picture = () => Effect.succeed(damaged(random, chart))
  await parsedOrRefused({ path: `damaged.${ending}`, bytes, picture })
}
