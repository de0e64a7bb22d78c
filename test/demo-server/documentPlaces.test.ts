/** A file of each format is uploaded over HTTP, and a question is answered with the place in it. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { AnswerBody, DocumentText, IngestReportBody } from "../../apps/demo-server/src/contract/index.ts"
import { epub, mail } from "../rag/MailWriter.ts"
import { openDocument, pptx, shape, textRows, xlsx } from "../rag/OfficeWriter.ts"
import { zip } from "../rag/ZipWriter.ts"
import { filesOf, testServer, TestServer } from "./TestServer.ts"

const fees = (rows: ReadonlyArray<ReadonlyArray<string>>) => xlsx([{ name: "Winter", rows: textRows(rows) }])
const cell = (text: string) => `<table:table-cell><text:p>${text}</text:p></table:table-cell>`
const row = (...cells: ReadonlyArray<string>) =>
  `<table:table-row>${cells.map(cell).join("")}</table:table-row>`
const headers = { From: "a@example.org", Date: "Sun, 3 May 2026 08:00:00 +0000" }

/** Each file, a question about it, and the cited place and words. */
const files: ReadonlyArray<
  readonly [
    name: string,
    content: string | Uint8Array,
    question: string,
    locator: string | undefined,
    quote: string
  ]
> = [
  [
    "berths.xlsx",
    fees([
      ["Berth", "Winter fee"],
      ["Alder", "51 crowns"],
      ["Birch", "52 crowns"]
    ]),
    "What is the winter fee of berth Birch?",
    "Winter!A3:B3",
    "52 crowns"
  ],
  [
    "boats.ods",
    openDocument(
      "spreadsheet",
      `<table:table table:name="Boats">${row("Boat", "Length")}${row("Heron", "9 metres")}${row("Swan", "11 metres")}</table:table>`
    ),
    "What is the length of the boat Swan?",
    "Boats!A3:B3",
    "11 metres"
  ],
  [
    "keepers.csv",
    "keeper,phone\nAda,5501\nBoris,5502\n",
    "What is the phone of the keeper Boris?",
    "row 3",
    "5502"
  ],
  [
    "plan.pptx",
    pptx([
      { shapes: shape(["Plan"], "title") },
      { shapes: shape(["Paint"], "title") + shape(["The railings are painted in dark green."]) }
    ]),
    "How are the railings painted?",
    "slide 2",
    "dark green"
  ],
  [
    "talk.odp",
    openDocument(
      "presentation",
      `<draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>Dredging</text:p></draw:text-box></draw:frame><draw:frame><draw:text-box><text:p>The dredger Marta works in November.</text:p></draw:text-box></draw:frame></draw:page>`
    ),
    "When does the dredger Marta work?",
    "slide 1",
    "in November"
  ],
  [
    "rules.odt",
    openDocument(
      "text",
      `<text:h text:outline-level="1">Swimming</text:h><text:p>Swimming in the chamber costs a fine of 300 crowns.</text:p>`
    ),
    "What is the fine for swimming in the chamber?",
    undefined,
    "300 crowns"
  ],
  [
    "novel.epub",
    epub("The Ferry", {
      "a.xhtml": "<h1>Dawn</h1><p>The ferryman Olaf wakes.</p>",
      "b.xhtml": "<h1>Dusk</h1><p>The ferryman sells his violin to Irma.</p>"
    }),
    "What does the ferryman sell to Irma?",
    "chapter 2",
    "to Irma"
  ],
  [
    "crane.eml",
    mail({ ...headers, Subject: "Crane" }, { text: "The crane lifts at most 40 tonnes." }, [
      {
        name: "cables.xlsx",
        bytes: fees([
          ["Cable", "Age"],
          ["Upper", "7 years"],
          ["Lower", "8 years"]
        ])
      }
    ]),
    "What is the age of the lower cable?",
    "message of 3 May 2026, attachment 1, Winter!A3:B3",
    "8 years"
  ],
  [
    "box.mbox",
    `From a\n${mail({ ...headers, Date: "Mon, 4 May 2026 08:00:00 +0000", Subject: "Eels" }, { text: "The eel ladder is cleaned by Gustav." })}\n`,
    "Who cleans the eel ladder?",
    "message of 4 May 2026",
    "by Gustav"
  ],
  [
    "tides.ipynb",
    JSON.stringify({
      cells: [
        { cell_type: "markdown", source: "# Tides" },
        { cell_type: "markdown", source: "The spring tide reached *4.7 metres* at the tide gauge." }
      ]
    }),
    "How high was the spring tide at the tide gauge?",
    "cell 2",
    "4.7 metres"
  ],
  [
    "film.srt",
    "1\n00:01:20,000 --> 00:01:22,000\nThe stonemason Pavel carved the coat of arms.\n\n2\n00:02:00,000 --> 00:02:02,000\nIt rained.\n",
    "Who carved the coat of arms?",
    "00:01:20",
    "Pavel carved"
  ],
  [
    "sensors.jsonl",
    '{"sensor": "north", "battery": "81 percent"}\n{"sensor": "south", "battery": "82 percent"}\n',
    "What is the battery of the south sensor?",
    "line 2",
    "82 percent"
  ],
  [
    "all.zip",
    zip([{ name: "docs/lamps.md", content: "# Lamps\n\nThe quay lamps burn **whale oil**.\n" }]),
    "What do the quay lamps burn?",
    "docs/lamps.md",
    "whale oil"
  ]
]

layer(testServer(), { excludeTestServices: true })("an uploaded file", (it) => {
  for (const [name, content, question, locator, words] of files) {
    it.effect(`${name} is cited with its place`, () =>
      Effect.gen(function* () {
        const { json } = yield* TestServer
        const body = filesOf({ [name]: typeof content === "string" ? content : Uint8Array.from(content) })
        const report = yield* json(IngestReportBody, "/documents", { body })
        assert.deepStrictEqual([report.added, report.failed], [1, []])
        const answer = yield* json(AnswerBody, "/qa", { json: { question } })
        const [cited] = answer.citations
        assert.deepStrictEqual([cited?.document, cited?.locator], [name, locator], answer.answer)
        assert.include(cited?.quote, words)
        const { text } = yield* json(DocumentText, `/documents/${cited?.documentId}`)
        assert.strictEqual(text.slice(cited?.start, cited?.end), cited?.quote)
      })
    )
  }
})
