/** Questions made from headings and captions, and the documents without these. */
import { assert, describe, it } from "@effect/vitest"
import { holdOut, knownItems, questionKey } from "../../packages/rag/src/evaluation/KnownItems.ts"
import { chunk } from "../../packages/rag/src/chunking/Chunker.ts"
import { parseMarkdown } from "../../packages/rag/src/formats/markdown/Markdown.ts"
import type { Parsed } from "@sluice/rag/formats"

const LONG =
  "Sluices are opened by hand at low water, one after the other, so that the basin empties slowly and no boat is drawn into the current of the lower reach."

const markdown = `# The harbour

${LONG}

## 2.1 Opening the lower gate

${LONG}

### Introduction

${LONG}

## Closing times

Short.

## 水位的测量方法

${LONG}
`

describe("knownItems", () => {
  it("uses specific headings with enough text below them", () => {
    const parsed = parseMarkdown(markdown)
    const items = knownItems(parsed)
    assert.deepStrictEqual(
      items.map(({ from, question }) => [from, question]),
      [
        ["heading", "Opening the lower gate"],
        ["heading", "水位的测量方法"]
      ]
    )
    for (const { answer, held } of items) {
      assert.strictEqual(parsed.text.slice(answer.start, answer.end).trim(), LONG)
      assert.include(parsed.text.slice(held.start, held.end), "#")
    }
  })

  it("uses captions without their label if the figure has other text", () => {
    const text = `${LONG}\n\nFigure 3: Flow over the upper weir. Measured in spring.\nweir gate level discharge\n\nTable II. Tides at new moon`
    const caption = (words: string) => {
      const start = text.indexOf(words)
      return { start, end: text.indexOf("\n", start) < 0 ? text.length : text.indexOf("\n", start) }
    }
    const first = caption("Figure 3")
    const second = caption("Table II")
    const parsed: Parsed = {
      format: "pdf",
      title: "Weirs",
      text,
      blocks: [{ kind: "paragraph", start: 0, end: LONG.length }],
      pages: [],
      lines: [],
      figures: [
        { kind: "figure", start: first.start, end: text.indexOf("\n\nTable"), caption: first, mentions: [] },
        { kind: "table", start: second.start, end: second.end, caption: second, mentions: [] }
      ],
      faults: []
    }
    const items = knownItems(parsed)
    assert.deepStrictEqual(
      items.map(({ from, question }) => [from, question]),
      [["caption", "Flow over the upper weir"]]
    )
    const held = holdOut(parsed, items)
    assert.strictEqual(held.text.length, text.length)
    assert.notInclude(held.text, "upper weir")
    assert.include(held.text, "weir gate level discharge")
    assert.deepStrictEqual(
      held.figures.map((figure) => figure.caption),
      [undefined, second]
    )
  })

  it("leaves nothing of a held-out heading in any passage, and keeps all offsets", () => {
    const parsed = parseMarkdown(markdown)
    const items = knownItems(parsed)
    const passages = chunk(holdOut(parsed, items))
    const indexed = passages.map(({ headings, text }) => `${headings.join(" ")} ${text}`).join("\n")
    assert.notInclude(indexed, "Opening the lower gate")
    assert.include(indexed, "Closing times")
    assert.include(indexed, "Introduction")
    for (const { answer } of items)
      assert.isTrue(passages.some(({ end, start }) => start < answer.end && end > answer.start))
  })

  it("compares questions without punctuation and case", () => {
    assert.strictEqual(questionKey("Opening the Lower-Gate!"), questionKey("opening  the lower gate"))
  })
})
