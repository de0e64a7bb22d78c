/** Notebooks, subtitles and JSON lines: the place of each cell, cue and record. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chunk } from "../../packages/rag/src/chunking/Chunker.ts"
import { parse } from "../../packages/rag/src/formats/ParsedFile.ts"
import { png } from "./DocxWriter.ts"
import { brokenLaw } from "./FigureLaws.ts"
import { zip } from "./ZipWriter.ts"

const utf8 = (text: string) => new TextEncoder().encode(text)
const parsed = (path: string, text: string | Uint8Array) =>
  Effect.map(parse({ path, bytes: typeof text === "string" ? utf8(text) : text }), (document) => {
    assert.isUndefined(brokenLaw(document))
    return document
  })
const labels = ({ locators = [], text }: Effect.Success<ReturnType<typeof parse>>) =>
  locators.map(({ end, label, start }) => [label, text.slice(start, end)])

describe("a notebook", () => {
  it.effect("has its Markdown as text, its code, and its output with tables and pictures", () =>
    Effect.gen(function* () {
      const picture = Buffer.from(png(40, 30)).toString("base64")
      const cells = [
        { cell_type: "markdown", source: ["# Tides\n", "\n", "The *gate* opens at **six**."] },
        {
          cell_type: "code",
          source: "fees.head()",
          outputs: [
            { output_type: "stream", text: ["\u001B[31mread\u001B[0m 2 rows\n"] },
            {
              output_type: "execute_result",
              data: {
                "text/html": [
                  "<table><tr><th>Berth</th><th>Fee</th></tr>",
                  "<tr><td>Q1</td><td>50</td></tr></table>"
                ],
                "text/plain": ["  Berth Fee\n"]
              }
            },
            { output_type: "display_data", data: { "image/png": picture, "text/plain": "<Figure>" } }
          ]
        },
        { cell_type: "code", source: "", outputs: [] },
        { cell_type: "raw", source: "Raw text" }
      ]
      const document = yield* parsed("tides.ipynb", JSON.stringify({ cells, metadata: {}, nbformat: 4 }))
      assert.strictEqual(document.title, "Tides")
      assert.deepStrictEqual(labels(document), [
        ["cell 1", "Tides\n\nThe gate opens at six."],
        ["cell 2", "fees.head()"],
        ["cell 2", "read 2 rows"],
        ["cell 2", "Berth | Fee\nQ1 | 50"],
        ["cell 2", "Output"],
        ["cell 4", "Raw text"]
      ])
      assert.strictEqual(document.figures[1]?.crop?.length, png(40, 30).length)
    })
  )

  it.effect("of version 3 has headings", () =>
    Effect.gen(function* () {
      const cells = [
        { cell_type: "heading", level: 2, source: "Tides" },
        { cell_type: "code", input: "1 + 1", outputs: [] }
      ]
      const document = yield* parsed("old.ipynb", JSON.stringify({ worksheets: [{ cells }], nbformat: 3 }))
      assert.deepStrictEqual(labels(document), [
        ["cell 1", "Tides"],
        ["cell 2", "1 + 1"]
      ])
    })
  )

  it.effect("that is none is rejected", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(parse({ path: "a.ipynb", bytes: utf8('{"cells": [1]}') }))
      assert.strictEqual(error.reason, "Malformed")
    })
  )
})

const SRT = `1
00:01:20,500 --> 00:01:22,000
<i>The gate</i> opens

2
00:01:22,000 --> 00:01:24,000
{\\an8}at six &amp; closes
at nine.

3
01:02:03,000 --> 01:02:05,000
Mooring costs fifty crowns.
`

describe("subtitles", () => {
  it.effect("are paragraphs between pauses, with the time of each cue", () =>
    Effect.gen(function* () {
      const document = yield* parsed("film.srt", SRT.replaceAll("\n", "\r\n"))
      assert.strictEqual(
        document.text,
        "The gate opens\nat six & closes at nine.\n\nMooring costs fifty crowns."
      )
      assert.strictEqual(document.blocks.length, 2)
      assert.deepStrictEqual(labels(document), [
        ["00:01:20", "The gate opens"],
        ["00:01:22", "at six & closes at nine."],
        ["01:02:03", "Mooring costs fifty crowns."]
      ])
      assert.strictEqual(chunk(document)[0]?.locator, "00:01:20")
    })
  )

  it.effect("of the web have speakers, and no notes and styles", () =>
    Effect.gen(function* () {
      const document = yield* parsed(
        "film.vtt",
        "WEBVTT\n\nSTYLE\n::cue { color: red }\n\nNOTE never\n\nintro\n01:20.000 --> 01:22.000 align:start\n<v.loud Anna>The <00:01:21.000>gate</v>\n"
      )
      assert.deepStrictEqual(labels(document), [["00:01:20", "Anna: The gate"]])
    })
  )

  it.effect("that roll up have each line once", () =>
    Effect.gen(function* () {
      const cues = [
        "00:00.000 --> 00:02.000\nhello<00:00:01.000><c> and</c> welcome",
        "00:02.000 --> 00:02.010\nhello and welcome\n ",
        "00:02.010 --> 00:04.000\nhello and welcome\nto the harbour",
        "00:09.000 --> 00:10.000\nto the harbour"
      ]
      assert.deepStrictEqual(labels(yield* parsed("film.vtt", `WEBVTT\n\n${cues.join("\n\n")}\n`)), [
        ["00:00:00", "hello and welcome"],
        ["00:00:02", "to the harbour"],
        ["00:00:09", "to the harbour"]
      ])
    })
  )

  it.effect("without times are rejected", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(parse({ path: "a.srt", bytes: utf8("The gate opens.") }))
      assert.strictEqual(error.reason, "Malformed")
    })
  )
})

it.effect("JSON lines are records with the names of their fields", () =>
  Effect.gen(function* () {
    const long = "a ".repeat(200).trim()
    const document = yield* parsed(
      "fees.jsonl",
      `{"berth": "Q1", "fee": {"night": 50, "free": false}, "tags": ["a", "b"], "none": null}\n\n{"id": 2, "text": "${long}"}\nnot JSON\n`
    )
    assert.deepStrictEqual(labels(document), [
      ["line 1", "berth: Q1, fee.night: 50, fee.free: false, tags: a, b"],
      ["line 3", `id: 2\ntext: ${long}`],
      ["line 4", "not JSON"]
    ])
  })
)

it.effect("numbers of JSON lines keep all their digits", () =>
  Effect.gen(function* () {
    assert.strictEqual(
      (yield* parsed("posts.jsonl", '{"id": 1234567890123456789, "fee": 1.50}')).text,
      "id: 1234567890123456789, fee: 1.50"
    )
  })
)

it.effect("Markdown in an archive has no markup", () =>
  Effect.gen(function* () {
    const content = "---\ntags: x\n---\n# Gate\n\nIt opens **at six**, see [here](x.md).\n"
    const document = yield* parsed("all.zip", zip([{ name: "gate.md", content }]))
    assert.strictEqual(document.text, "gate.md\n\nGate\n\nIt opens at six, see here.")
  })
)
