/** Tables in plain text: cells separated by " | ", labels with numbers, and CSV. */
import { escape } from "effect/RegExp"
import { rowText } from "./Readable.ts"
import type { PassageBlock, Sentence } from "./Sentence.ts"

/** A line of cells. */
export const PIPED = /\S \| \S/
/** The maximum length of a line that continues a cell. */
const MAX_CONTINUED = 60
/** The maximum number of lines that continue a row. */
const MAX_LINES = 8

const NUMERIC =
  /^[<>~≈≤≥±+-]?\s?[\p{Sc}]?\d[\d.,:/%±×^\s–-]*(?!(?:st|nd|rd|th)$)(?:[a-zA-Z%°µ]{1,4}\.?)?$|^[-–—]$/u

interface Row {
  readonly start: number
  end: number
  cells: ReadonlyArray<string>
}

const cellsOf = (line: string): ReadonlyArray<string> => line.split(" | ").map((cell) => cell.trim())
const isNumeric = (cell: string): boolean => NUMERIC.test(cell)
const hasAllNumbers = ({ cells }: Row): boolean => cells.slice(1).some(isNumeric) || cells.every(isNumeric)

/** Rising integers, such as years or sizes in a header. */
const rises = ({ cells }: Row): boolean => {
  const numbers = cells.slice(1).filter((cell) => /^\d+$/.test(cell))
  return numbers.length > 1 && numbers.every((cell, i) => i === 0 || Number(cell) > Number(numbers[i - 1]))
}

/** True if a line continues the cells of the row above it. */
const continues = (row: Row, cells: ReadonlyArray<string>): boolean =>
  /^\p{Ll}/u.test(cells[0] ?? "") && !/^\p{Ll}/u.test(row.cells[0] ?? "") && !cells.slice(1).some(isNumeric)

/** The number of header rows. */
const headerRows = (rows: ReadonlyArray<Row>): number => {
  const first = rows.findIndex(hasAllNumbers)
  if (first > 0) return first
  if (first < 0) return 1
  return rises(rows[0]!) && rows.slice(1).some((row) => hasAllNumbers(row) && !rises(row)) ? 1 : 0
}

/** The line that begins at `from`: where it begins and ends without white space, and where the next one begins. */
export const lineAt = (text: string, from: number) => {
  const newline = text.indexOf("\n", from)
  const line = text.slice(from, newline < 0 ? text.length : newline)
  const start = from + line.length - line.trimStart().length
  return { line, start, end: from + line.trimEnd().length, next: newline < 0 ? text.length : newline + 1 }
}

interface Rows {
  readonly blocks: ReadonlyArray<PassageBlock>
  readonly end: number
}

/**
 * The rows of a table that begins at `from`, the start of a line, and its end. Undefined if none begins there: a table needs
 * two lines.
 */
export const pipedRows = (text: string, from: number): Rows | undefined => {
  const rows: Array<Row> = []
  let at = from
  let piped = 0
  let continued = 0
  let cut: number | undefined
  for (; at < text.length;) {
    const { end, line, next, start } = lineAt(text, at)
    const last = rows.at(-1)
    const isShort = line.length <= MAX_CONTINUED
    if (PIPED.test(line)) {
      piped++
      const cells = cellsOf(line)
      if (cut === undefined && last !== undefined && continued < MAX_LINES && continues(last, cells)) {
        last.end = end
        continued++
      } else {
        rows.push({ start: cut ?? start, end, cells })
        continued = 0
      }
      cut = undefined
    } else if (line.endsWith("-") && isShort && last !== undefined) {
      // A hyphenated word continues in the row below.
      cut = start
    } else if (last !== undefined && line.trim() !== "" && isShort && continued < MAX_LINES) {
      last.end = end
      continued++
    } else break
    at = next
  }
  if (piped < 2) return undefined
  const headers = headerRows(rows)
  return {
    end: at,
    blocks: rows.map(({ end, start }, i) => ({ kind: i < headers ? "header" : "row", start, end }))
  }
}

/** Fewer lines that end with a number may be prose. */
const MIN_LABELLED_ROWS = 3

const LABELLED =
  /^\s*\p{L}[^\s.!?。！？|]{0,40}(?:\s[^\s.!?。！？|]{1,40}){0,4}?(?<!\s(?:in|of|by|to|from|at|on|since|until|and|or|the|for|with|page|section))[\s:：]\s*[-+±~<>≈]?\d[\d.,]{0,20}\s?(?:%|\S{1,12})?\s*$/u
/** A label and several measurements: a row of a table within a figure. */
const SEVERAL = /^\s*\p{L}.{0,80}\s\d[\d.,%±]*\s+(?:\S+\s+)?\d[\d.,%±]*(?:\s|$)/u

/**
 * Lines of a label and its number (“July: 1043”, “Mill wheel 18 %”) from `from`, the start of a line, and their end. Undefined
 * for fewer than three, or for none within a figure.
 */
export const labelledRows = (text: string, from: number, inside: boolean): Rows | undefined => {
  const blocks: Array<PassageBlock> = []
  let at = from
  for (; at < text.length;) {
    const { end, line, next, start } = lineAt(text, at)
    if (!LABELLED.test(line) && !(inside && SEVERAL.test(line))) break
    blocks.push({ kind: "row", start, end })
    at = next
  }
  return blocks.length < (inside ? 1 : MIN_LABELLED_ROWS) ? undefined : { blocks, end: at }
}

/** Lines of CSV or TSV: the header, then a row each. Quoted cells may contain delimiters and line breaks. */
export const delimitedRows = (text: string, delimiter: string): ReadonlyArray<Sentence> => {
  const parting = escape(delimiter)
  const rows = new RegExp(`(?:(?<=^|${parting})"(?:[^"]|"")*"|[^\\r\\n])+`, "gm")
  const cells = new RegExp(`(?<=^|${parting})(?: *"((?:[^"]|"")*)"[^${parting}]*|[^${parting}]*)`, "g")
  return Array.from(text.matchAll(rows), ({ 0: row, index }, at): Sentence => {
    const values = Array.from(row.matchAll(cells), ([cell, quoted]) =>
      (quoted?.replaceAll('""', '"') ?? cell).replace(/\s+/g, " ").trim()
    )
    return {
      kind: at === 0 ? "header" : "row",
      text: rowText(values),
      start: index,
      end: index + row.length,
      block: at,
      cells: values
    }
  })
}
