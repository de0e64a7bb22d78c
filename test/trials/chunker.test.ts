/** Laws of passages, for random documents and the samples. */
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chunk } from "../../packages/rag/src/chunking/Chunker.ts"
import type { Figure, Parsed, Span } from "../../packages/rag/src/document/Document.ts"
import { parseHtml } from "../../packages/rag/src/formats/html/Html.ts"
import { parseMarkdown } from "../../packages/rag/src/formats/markdown/Markdown.ts"
import { parse } from "../../packages/rag/src/formats/ParsedFile.ts"
import { parsePlainText } from "../../packages/rag/src/formats/text/PlainText.ts"
import { MAX_SIZE, textSize } from "../../packages/rag/src/chunking/Splitting.ts"
import { random, randomHtml, randomMarkdown } from "../rag/RandomDocument.ts"

const SEEDS = Array.from({ length: 60 }, (_, index) => index + 1)

/** Checks the laws of the passages of any document. */
const holds = (parsed: Parsed, what: string): void => {
  const { blocks, lines, pages, text } = parsed
  const passages = chunk(parsed)
  const covered = new Uint8Array(text.length)
  let end = 0
  passages.forEach((passage, ordinal) => {
    assert.strictEqual(passage.ordinal, ordinal, what)
    assert.strictEqual(text.slice(passage.start, passage.end), passage.text, what)
    assert.isAtLeast(passage.start, end, `${what}: passages overlap`)
    assert.notStrictEqual(passage.text.trim(), "", what)
    assert.isAtMost(textSize(text, passage.start, passage.end), MAX_SIZE * 1.1, `${what}: too large`)
    assert.isTrue(passage.text.isWellFormed(), `${what}: cut within a character`)
    covered.fill(1, passage.start, passage.end)
    const inside = lines.filter((line) => line.start < passage.end && line.end > passage.start)
    assert.deepStrictEqual(passage.lines, inside, what)
    if (pages.length > 0) assert.strictEqual(passage.page, inside[0]?.page, what)
    end = passage.end
  })
  // The passages of a figure contain all of it, and of the rest only the headings directly before it.
  const overlaps = (a: Span, b: Span) => a.start < b.end && b.start < a.end
  for (const figure of parsed.figures) {
    const its = passages.filter((passage) => overlaps(passage, figure))
    assert.isAtLeast(its.length, 1, `${what}: a figure is in no passage`)
    const { end, start } = figure
    for (const passage of its) {
      assert.deepStrictEqual(
        [passage.figure?.kind, passage.figure?.number],
        [figure.kind, figure.number],
        what
      )
      assert.isAtMost(passage.end, end, what)
      const before = blocks.filter((block) => overlaps(block, passage) && block.start < start)
      assert.isTrue(
        before.every(({ kind }) => kind === "heading"),
        `${what}: text with a figure`
      )
    }
    if (textSize(text, its[0]!.start, end) <= MAX_SIZE) assert.strictEqual(its.length, 1, what)
  }
  for (const passage of passages) {
    const itself = parsed.figures.some((figure) => overlaps(passage, figure))
    assert.strictEqual(passage.figure !== undefined, itself, what)
  }
  let last = 0
  for (const block of blocks) {
    assert.isAtLeast(block.start, last, `${what}: blocks overlap`)
    last = block.end
    for (let at = block.start; at < block.end; at++) {
      if (covered[at] === 0 && text[at]!.trim() !== "")
        assert.fail(`${what}: ${text.slice(at, at + 40)} is in no passage`)
    }
  }
  // A heading is at the start of its passage, or belongs to tiny sections that were joined.
  for (const passage of passages) {
    const within = blocks.filter((block) => block.start >= passage.start && block.end <= passage.end)
    const first = within.findIndex(({ kind }) => kind !== "heading")
    const later = within.slice(first).filter(({ kind }, index) => kind === "heading" && index > 0)
    if (first !== -1 && later.length > 0)
      assert.isAtMost(textSize(text, passage.start, passage.end), 520, what)
  }
}

/** The same document with some blocks, alone or with the next, as figures. */
const withFigures = (parsed: Parsed, seed: number): Parsed => {
  const next = random(seed)
  const figures: Array<Figure> = []
  for (let i = 0; i < parsed.blocks.length; i++) {
    const first = parsed.blocks[i]!
    const last = next() < 0.3 ? (parsed.blocks[i + 1] ?? first) : first
    if (next() > 0.3 || [first, last].some(({ kind }) => kind === "heading")) continue
    if (parsed.text.slice(first.start, last.end).trim() === "") continue
    const kind = next() < 0.5 ? "figure" : "table"
    figures.push({ kind, number: String(i), start: first.start, end: last.end, mentions: [] })
    if (last !== first) i++
  }
  return { ...parsed, figures }
}

describe("chunk", () => {
  it("makes each figure a passage of its own", () => {
    let count = 0
    for (const seed of SEEDS) {
      const markdown = withFigures(parseMarkdown(randomMarkdown(seed)), seed)
      const html = withFigures(parseHtml(randomHtml(seed)), seed)
      holds(markdown, `figures in Markdown, seed ${seed}`)
      holds(html, `figures in HTML, seed ${seed}`)
      count += markdown.figures.length + html.figures.length
    }
    assert.isAbove(count, 100)
  })

  it("gives a figure's passage its caption, number and page, and leaves the text around it", () => {
    const text = "# Weir\n\nBefore it.\n\n## Level\n\nlow high\n\nFigure 3:\n the level\n\nAfter it."
    const caption = { start: text.indexOf("Figure"), end: text.indexOf("\n\nAfter") }
    const start = text.indexOf("low")
    const known = { kind: "figure", number: "3", page: 2, box: [1, 2, 3, 4] } as const
    const figure: Figure = { ...known, start, end: caption.end, caption, mentions: [] }
    const passages = chunk({ ...parseMarkdown(text), figures: [figure] })
    assert.deepStrictEqual(
      passages.map(({ figure, headings, text }) => [headings.join("/"), text, figure]),
      [
        ["Weir", "# Weir\n\nBefore it.", undefined],
        [
          "Weir/Level",
          `## Level\n\n${text.slice(start, figure.end)}`,
          { ...known, caption: "Figure 3: the level" }
        ],
        ["Weir/Level", "After it.", undefined]
      ]
    )
  })

  it("cuts any Markdown into slices that cover it without overlap", () => {
    for (const seed of SEEDS) {
      const text = randomMarkdown(seed)
      const parsed = parseMarkdown(text)
      holds(parsed, `Markdown, seed ${seed}`)
      assert.strictEqual(parsed.text, text)
      // Text outside of blocks: front matter, thematic breaks, comments.
      let outside = ""
      let at = 0
      for (const { end, start } of parsed.blocks) {
        outside += text.slice(at, start)
        at = end
      }
      outside += text.slice(at)
      const rest = outside.replace(/^---\r?\n[\s\S]*?---\r?\n/, "").replace(/<!--.*?-->|\*\*\*|---|\s|-/g, "")
      assert.strictEqual(rest, "", `Markdown, seed ${seed}`)
    }
  })

  it("cuts any HTML into passages of its visible text", () => {
    for (const seed of SEEDS) {
      const parsed = parseHtml(randomHtml(seed))
      holds(parsed, `HTML, seed ${seed}`)
      assert.notInclude(parsed.text, "never")
      assert.strictEqual(
        parsed.text.replace(/\s/g, "").length,
        parsed.blocks.reduce((sum, b) => sum + parsed.text.slice(b.start, b.end).replace(/\s/g, "").length, 0)
      )
    }
  })

  it("cuts plain text and code with lines of any length", () => {
    for (const seed of SEEDS) {
      for (const kind of ["paragraph", "code"] as const) {
        const parsed = parsePlainText(randomMarkdown(seed), kind)
        holds(parsed, `${kind}, seed ${seed}`)
        assert.strictEqual(
          parsed.blocks
            .map((b) => parsed.text.slice(b.start, b.end))
            .join("")
            .replace(/\s/g, ""),
          parsed.text.replace(/\s/g, "")
        )
      }
    }
  })

  it.effect("cuts the samples at their headings", () =>
    Effect.gen(function* () {
      const folder = join(import.meta.dirname, "../../apps/demo-server/samples")
      const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
        (name) => !name.startsWith(".") && statSync(join(folder, name)).isFile()
      )
      let count = 0
      for (const path of files) {
        const parsed = yield* parse({ path, bytes: readFileSync(join(folder, path)) })
        holds(parsed, path)
        const passages = chunk(parsed)
        count += passages.length
        // An image has no headings.
        const least = parsed.format === "image" ? 0 : 1
        for (const { headings } of passages) assert.isAtLeast(headings.length, least, path)
      }
      assert.isAtLeast(count, 40)
    })
  )

  it("gives each passage its headings, and joins only tiny siblings", () => {
    const body = "A sentence about water and gates that is long enough not to be tiny. ".repeat(4)
    const tiny = ["Weir", "Sluice", "Sill"].map((word) => `### ${word}\n\nA word.\n\n`).join("")
    const passages = chunk(
      parseMarkdown(`# A\n\n## B\n\n${body}\n\n## C\n\n${body}\n\n### D\n\n${body}\n\n## Words\n\n${tiny}`)
    )
    assert.deepStrictEqual(
      passages.map(({ headings }) => headings.join("/")),
      ["A/B", "A/C", "A/C/D", "A/Words"]
    )
    assert.isTrue(passages[0]!.text.startsWith("# A\n\n## B\n"))
    assert.include(passages[3]!.text, "### Sill")
  })

  it("splits prose after sentences, tables after rows, and unmarked lists after lines", () => {
    const prose = chunk(parseMarkdown("The gate is shut at night.\nIt opens in the morning. ".repeat(80)))
    assert.isAbove(prose.length, 2)
    for (const { text } of prose) assert.match(text, /\.$/)
    const rows = chunk(
      parseMarkdown(`| a | b |\n|---|---|\n${"| the first cell | the second cell |\n".repeat(90)}`)
    )
    assert.isAbove(rows.length, 2)
    for (const { text } of rows) assert.match(text, /^\|[^]*\|$/)
    const list = chunk(parsePlainText("Olaf Berg    +47 22 00    room 147\n".repeat(90), "paragraph"))
    assert.isAbove(list.length, 2)
    for (const { text } of list) assert.match(text, /^Olaf[^]*147$/)
  })
})
