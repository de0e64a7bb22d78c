/** Writes rows of cells as tables with the place of each row. Used for spreadsheets and CSV. */
import type { Parsed } from "../../document/Document.ts"
import type { Locator } from "../../document/Locator.ts"
import type { ParsedDraft } from "../parsing/Captions.ts"
import { withFigures } from "../parsing/Captions.ts"
import type { DraftBlock } from "../parsing/DraftBlock.ts"
import { MAX_CELLS } from "../parsing/TableGrid.ts"

/** A row with its number in the sheet, from 1. Empty cells are empty texts, or holes. */
export interface SheetRow {
  readonly number: number
  readonly cells: ReadonlyArray<string>
}

/** 1 is A, 27 is AA. */
export const columnName = (column: number): string =>
  column > 26
    ? columnName(Math.floor((column - 1) / 26)) + columnName(((column - 1) % 26) + 1)
    : String.fromCharCode(64 + column)

/** A sheet's name as formulas have it: `Fees!`, `'Winter fees'!`. */
const sheetReference = (name: string): string =>
  `${/^\p{L}[\p{L}\p{N}_.]*$/u.test(name) ? name : `'${name.replaceAll("'", "''")}'`}!`

const oneLine = (cell: string): string => cell.replace(/\s+/g, " ").trim()

const isNumeric = (cell: string): boolean => /^[^\p{L}]*\d[^\p{L}]*$/u.test(cell)

/** The one text of a row: a title, which may be in a merged cell. */
const titleIn = ({ cells }: SheetRow): string | undefined => {
  const texts = new Set(cells.filter((cell) => cell !== ""))
  return texts.size === 1 ? [...texts][0] : undefined
}

/** The columns that have text: from the first (an index) to the last (exclusive). */
const columnsOf = (rows: ReadonlyArray<SheetRow>): readonly [from: number, to: number] => {
  let from = Infinity
  let to = 0
  for (const { cells } of rows) {
    const first = cells.findIndex(Boolean)
    if (first !== -1) from = Math.min(from, first)
    to = Math.max(to, cells.findLastIndex(Boolean) + 1)
  }
  return [from, to]
}

/** Rows without blank ones between. A blank row before a row of figures does not end a table: headers have words. */
const groupsOf = (rows: ReadonlyArray<SheetRow>): ReadonlyArray<ReadonlyArray<SheetRow>> => {
  const groups: Array<Array<SheetRow>> = []
  let last = -1
  for (const row of rows) {
    const hasFigures = row.cells.some(isNumeric) && titleIn(row) === undefined
    const group = groups.at(-1)
    if (group !== undefined && (row.number === last + 1 || (hasFigures && group.length > 1))) group.push(row)
    else groups.push([row])
    last = row.number
  }
  return groups
}

export class SheetText {
  readonly #lines: Array<string> = []
  #length = 0
  readonly #blocks: Array<DraftBlock> = []
  readonly #locators: Array<Locator> = []

  /** Writes a sheet. Without a name, rows are located by their number only. */
  sheet(name: string | undefined, rows: ReadonlyArray<SheetRow>): void {
    const cleaned = rows.flatMap(({ cells, number }) => {
      const own = cells.map(oneLine)
      return own.some((cell) => cell !== "") ? [{ number, cells: own }] : []
    })
    if (cleaned.length === 0) return
    if (name !== undefined) {
      const start = this.#write([name])
      this.#block({ kind: "heading", level: 1, heading: name }, start)
    }
    for (const group of groupsOf(cleaned)) {
      const at = group.findIndex((row) => titleIn(row) === undefined)
      const titles = at === -1 ? group : group.slice(0, at)
      const table = at === -1 ? [] : group.slice(at)
      if (titles.length > 0) this.#rows(name, titles, false)
      if (table.length > 0) this.#rows(name, table, table.length > 1)
    }
  }

  finish(format: string, faults: Parsed["faults"]): ParsedDraft {
    const text = this.#lines.join("\n").toWellFormed()
    const parsed = withFigures({ format, title: "", text, faults }, this.#blocks)
    return { ...parsed, locators: this.#locators }
  }

  #rows(name: string | undefined, rows: ReadonlyArray<SheetRow>, isTable: boolean): void {
    const [from, to] = columnsOf(rows)
    const cellsOf = (row: SheetRow): ReadonlyArray<string> =>
      Array.from({ length: to - from }, (_, i) => row.cells[from + i] ?? "")
    const lineOf = (row: SheetRow): string =>
      titleIn(row) ??
      cellsOf(row)
        .join(" | ")
        .replace(/(?: \| *)+$/, "")
        .trimStart()
    const lines = rows.map(lineOf)
    const start = this.#write(lines)
    let at = start
    for (const [i, { number }] of rows.entries()) {
      const end = at + lines[i]!.length
      const cells = {
        label: `${sheetReference(name ?? "")}${columnName(from + 1)}${number}`,
        to: `${columnName(to)}${number}`
      }
      this.#locators.push({ start: at, end, ...(name === undefined ? { label: `row ${number}` } : cells) })
      at = end + 1
    }
    const hasRows = isTable && to - from > 1 && rows.length * (to - from) <= MAX_CELLS
    // Without rows or a description, a table is taken for a layout
    const figure = hasRows ? { rows: rows.map(cellsOf), pictures: [] } : { alternative: "", pictures: [] }
    if (isTable && to - from > 1) this.#block({ kind: "table", figure }, start)
    else this.#block({ kind: isTable ? "list" : "paragraph" }, start)
  }

  /** Adds lines after a blank one, and returns the offset of the first. */
  #write(lines: ReadonlyArray<string>): number {
    if (this.#length > 0) {
      this.#lines.push("")
      this.#length++
    }
    const start = this.#length
    for (const line of lines) {
      this.#lines.push(line)
      this.#length += line.length + 1
    }
    return start
  }

  #block(block: Omit<DraftBlock, "start" | "end">, start: number): void {
    this.#blocks.push({ ...block, start, end: this.#length - 1 })
  }
}
