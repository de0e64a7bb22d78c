/** Parses plain text. Offsets refer to the file itself. */
import { Effect } from "effect"
import { type Block, type Parsed, TEXT_ONLY } from "../../document/Document.ts"
import type { DocumentFormat } from "../parsing/DocumentFormat.ts"
import { baseName, endingOf } from "../parsing/FileName.ts"
import { blockSpan, lineStarts } from "../parsing/LineSpans.ts"
import { decodeFile, rejectHtml } from "../parsing/TextDecoding.ts"

/** Prose, or a file whose lines are kept whole. */
type TextKind = "paragraph" | "code"

const PROSE = ["txt", "text", "rst", "adoc", "asciidoc", "org", "tex", "me"]
const CODE = (
  "log ics vcf json yaml yml toml ini cfg conf properties env xml sql graphql proto " +
  "ts tsx mts cts js jsx mjs cjs py rb rs go java kt kts scala swift c h cc cpp cxx hpp cs php pl lua r jl hs ml " +
  "ex exs erl clj el lisp vue svelte css scss less sh bash zsh fish ps1 bat tf dockerfile makefile cmake gradle diff patch"
).split(" ")
const CODE_NAMES = /^(makefile|dockerfile|gemfile|rakefile|justfile|procfile|\.gitignore|\.editorconfig)$/i
const PROSE_NAMES =
  /^(readme|licen[cs]e|copying|notice|authors|contributors|changelog|changes|history|news|install|todo|contributing)$/i

const kindOf = (path: string): TextKind => {
  if (CODE_NAMES.test(baseName(path))) return "code"
  return CODE.includes(endingOf(path)) ? "code" : "paragraph"
}

/** Characters of a first line that can be the title. */
const MAX_TITLE = 100

const UNDERLINE = /^([=\-~^*#])\1{2,}\s*$/
/** Headings such as "Chapter 3", "PART II", "第三章". */
const CHAPTER =
  /^(?:(?:chapter|part|appendix)\s+(?:\d+|[ivxlc]+)\b|第[一二三四五六七八九十百零\d]+[章节部篇回])/i

/** The level of a heading: underlined as in reStructuredText, or a chapter's. */
const headingLevel = (lines: ReadonlyArray<string>): number | undefined => {
  const [first = "", second = ""] = lines
  if (lines.length === 2 && UNDERLINE.test(second) && second.trim().length >= first.trim().length / 2) {
    return second.startsWith("=") ? 1 : second.startsWith("-") ? 2 : 3
  }
  return lines.length === 1 && first.length <= 80 && CHAPTER.test(first) ? 1 : undefined
}

/**
 * Splits a text into blocks at blank lines. Every nonblank character is in one block.
 *
 * **Details.** `kind` is that of the blocks: code is later split only between lines. `title` is the first line if it is short and a paragraph of its own,
 * otherwise empty.
 */
export const parsePlainText = (text: string, kind: TextKind): Parsed => {
  const starts = lineStarts(text)
  const lineAt = (line: number): string => text.slice(starts[line], starts[line + 1])
  const blocks: Array<Block> = []
  let title = ""
  const count = starts.length - 1
  for (let first = 0; first < count;) {
    if (lineAt(first).trim() === "") {
      first++
      continue
    }
    let after = first + 1
    while (after < count && lineAt(after).trim() !== "") after++
    const span = blockSpan(text, starts, [first, after])!
    const lines =
      kind === "paragraph" && after - first <= 2 ? text.slice(span.start, span.end).split(/\r\n?|\n/) : []
    const level = headingLevel(lines)
    const heading = (lines[0] ?? "").trim()
    if (level === undefined) blocks.push({ ...span, kind })
    else blocks.push({ ...span, kind: "heading", level, heading })
    if (blocks.length === 1 && heading.length <= MAX_TITLE && (level !== undefined || lines.length === 1)) {
      title = heading
    }
    first = after
  }
  return { ...TEXT_ONLY, format: "text", title, text, blocks }
}

export const textFormat: DocumentFormat = {
  id: "text",
  label: "Text",
  extensions: [...PROSE, ...CODE],
  fileNames: new RegExp(`${CODE_NAMES.source}|${PROSE_NAMES.source}`, "i"),
  mediaTypes: ["text/plain; charset=utf-8"],
  parse: Effect.fnUntraced(function* (file) {
    const text = yield* decodeFile(file, "Text")
    if (endingOf(file.path) === "txt") yield* rejectHtml(file.path, "Text", text)
    return parsePlainText(text, kindOf(file.path))
  })
}
