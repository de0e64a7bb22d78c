/** Tables in plain text: cells separated by " | ", labels with numbers, and CSV. */
import { escape } from "effect/RegExp"
import { rowText } from "./readable.ts"
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

/**
 * The rows of a table that begins at `from`, the start of a line, and its end. Undefined if none begins there: a table needs
 * two lines.
 */
export const pipedRows = (
  text: string,
  from: number
): { readonly blocks: ReadonlyArray<PassageBlock>; readonly end: number } | undefined => {
  const rows: Array<Row> = []
  let end = from
  let lines = 0
  let cut: number | undefined
  for (let at = from; at < text.length;) {
    const newline = text.indexOf("\n", at)
    const lineEnd = newline < 0 ? text.length : newline
    const line = text.slice(at, lineEnd)
    const last = rows.at(-1)
    const start = at + line.length - line.trimStart().length
    const stop = at + line.trimEnd().length
    if (PIPED.test(line)) {
      const cells = cellsOf(line)
      if (cut === undefined && last !== undefined && lines < MAX_LINES && continues(last, cells)) {
        last.end = stop
        lines++
      } else {
        rows.push({ start: cut ?? start, end: stop, cells })
        lines = 0
      }
      cut = undefined
    } else if (line.endsWith("-") && line.length <= MAX_CONTINUED && last !== undefined) {
      // A hyphenated word continues in the row below.
      cut = start
    } else if (
      last !== undefined &&
      line.trim() !== "" &&
      line.length <= MAX_CONTINUED &&
      lines < MAX_LINES
    ) {
      last.end = stop
      lines++
    } else break
    at = lineEnd + 1
    end = Math.min(at, text.length)
  }
  const piped = text
    .slice(from, end)
    .split("\n")
    .filter((line) => PIPED.test(line)).length
  if (piped < 2) return undefined
  const headers = headerRows(rows)
  return {
    end,
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
export const labelledRows = (
  text: string,
  from: number,
  inside: boolean
): { readonly blocks: ReadonlyArray<PassageBlock>; readonly end: number } | undefined => {
  const blocks: Array<PassageBlock> = []
  let end = from
  for (let at = from; at < text.length;) {
    const newline = text.indexOf("\n", at)
    const lineEnd = newline < 0 ? text.length : newline
    const line = text.slice(at, lineEnd)
    if (!LABELLED.test(line) && !(inside && SEVERAL.test(line))) break
    const start = at + line.length - line.trimStart().length
    blocks.push({ kind: "row", start, end: at + line.trimEnd().length })
    at = lineEnd + 1
    end = Math.min(at, text.length)
  }
  return blocks.length < (inside ? 1 : MIN_LABELLED_ROWS) ? undefined : { blocks, end }
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
