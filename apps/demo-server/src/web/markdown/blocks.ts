/** Blocks of a document without their markup. Every character keeps its offset in the text. */
import type { DocumentText } from "../../contract/index.ts"
import { markdownRuns, type TextRun } from "./inline.ts"

type Block = DocumentText["blocks"][number]
type Format = DocumentText["document"]["format"]

type Runs = ReadonlyArray<TextRun>

/**
 * `head` is the index of a table's header row; -1: none. A row of one cell spans all columns: a caption, or a heading
 * between.
 */
export type ReadableBlock =
  | { readonly kind: "heading"; readonly level: number; readonly runs: Runs }
  | { readonly kind: "paragraph" | "quotation"; readonly runs: Runs }
  | { readonly kind: "list"; readonly items: ReadonlyArray<ListItem> }
  | {
      readonly kind: "table"
      readonly columns: number
      readonly head: number
      readonly rows: ReadonlyArray<ReadonlyArray<Runs>>
    }
  | ({ readonly kind: "code" } & Part)

type ListItem = { readonly depth: number; readonly marker: string; readonly runs: Runs }

type Part = { readonly start: number; readonly end: number }

/** Characters at the end of a heading that may be its closing marks or its underline. */
const MAX_UNDERLINE = 400

/** The lines that are not blank. */
const linesOf = (text: string, { start, end }: Part): Array<Part> =>
  [...text.slice(start, end).matchAll(/[^\n]+/g)]
    .filter(([line]) => line.trim() !== "")
    .map(({ 0: line, index }) => ({ start: start + index, end: start + index + line.length }))

const trimmed = (text: string, { start, end }: Part): Part => {
  const part = text.slice(start, end)
  return {
    start: start + part.length - part.trimStart().length,
    end: end - (part.length - part.trimEnd().length)
  }
}

const MARKER = /^(\s*)([-*+•◦▪–]|\d{1,4}[.)]|[a-z][.)])\s+/

const listItems = (text: string, block: Part, runsOf: (part: Part) => Array<TextRun>): Array<ListItem> => {
  const lines = linesOf(text, block)
  const marked = lines.some((line) => MARKER.test(text.slice(line.start, line.end)))
  const items: Array<{ depth: number; marker: string; runs: Array<TextRun> }> = []
  for (const line of lines) {
    const found = MARKER.exec(text.slice(line.start, line.end))
    const last = items.at(-1)
    if (found === null && marked && last !== undefined) {
      last.runs.push(...runsOf({ start: line.start - 1, end: line.end }))
      continue
    }
    const [whole = "", indent = "", marker = ""] = found ?? []
    items.push({
      depth: Math.min(4, Math.floor(indent.replaceAll("\t", "    ").length / 2)),
      marker: /^[\da-z]/.test(marker) ? marker : "",
      runs: runsOf({ start: line.start + whole.length, end: line.end })
    })
  }
  return items
}

const cellsOf = (text: string, line: Part, separator: RegExp): Array<Part> => {
  const cells: Array<Part> = []
  let at = line.start
  for (const match of text.slice(line.start, line.end).matchAll(separator)) {
    cells.push({ start: at, end: line.start + match.index })
    at = line.start + match.index + match[0].length
  }
  cells.push({ start: at, end: line.end })
  return cells.map((cell) => trimmed(text, cell))
}

const RULE = /^(?=[^-]*-)[\s|:+-]+$/

const table = (text: string, block: Part, runsOf: (part: Part) => Array<TextRun>): ReadableBlock => {
  const lines = linesOf(text, block)
  const piped = lines.some((line) => text.slice(line.start, line.end).includes("|"))
  const rows = lines
    .filter((line) => !RULE.test(text.slice(line.start, line.end)))
    .map((line) => {
      if (!piped) return cellsOf(text, line, /\t| {3,}/g).map(runsOf)
      const bare = trimmed(text, line)
      const start = text[bare.start] === "|" ? bare.start + 1 : bare.start
      const end = text[bare.end - 1] === "|" ? bare.end - 1 : bare.end
      return cellsOf(text, { start, end }, /(?<!\\)\|/g).map(runsOf)
    })
  const columns = Math.max(...rows.map((cells) => cells.length))
  const head = rows.length > 1 ? rows.findIndex((cells) => cells.length > 1 || columns === 1) : -1
  return { kind: "table", columns, head, rows }
}

/** Removes a block's own markup. Only Markdown has any: the text of other formats has none. */
export const readableBlock = (text: string, format: Format, block: Block): ReadableBlock => {
  const markdown = format === "markdown"
  const runsOf = (part: Part): Array<TextRun> =>
    markdown ? markdownRuns(text, part.start, part.end) : [part]
  const part = trimmed(text, block)
  const source = text.slice(part.start, part.end)
  switch (block.kind) {
    case "heading": {
      const level = block.level ?? 2
      if (!markdown) return { kind: "heading", level, runs: [part] }
      const before = /^#{1,6}\s+/.exec(source)?.[0].length ?? 0
      const after = /(\s+#+|\n\s*(=+|-+))\s*$/.exec(source.slice(-MAX_UNDERLINE))?.[0].length ?? 0
      return { kind: "heading", level, runs: runsOf({ start: part.start + before, end: part.end - after }) }
    }
    // The text in a figure has lines, as a list has items.
    case "figure":
    case "list":
      return { kind: "list", items: listItems(text, block, runsOf) }
    case "table":
      return table(text, block, runsOf)
    case "code": {
      const fence = markdown ? /^(`{3,}|~{3,})[^\n]*\n?/.exec(source) : null
      if (fence === null) return { kind: "code", start: block.start, end: part.end }
      const close =
        source.endsWith(fence[1] ?? "") && source.length > fence[0].length ? (fence[1] ?? "").length : 0
      return { kind: "code", start: part.start + fence[0].length, end: part.end - close }
    }
    case "paragraph": {
      if (!markdown || !source.startsWith(">")) return { kind: "paragraph", runs: runsOf(part) }
      const runs = linesOf(text, part).flatMap((line) => {
        const sign = /^\s*>+ ?/.exec(text.slice(line.start, line.end))?.[0].length ?? 0
        return [
          ...runsOf({ start: line.start + sign, end: line.end }),
          { start: line.end, end: line.end + 1 }
        ]
      })
      return { kind: "quotation", runs: runs.filter((run) => run.end <= part.end) }
    }
  }
}
