/** Writes rows of cells as tables with the place of each row. Used for spreadsheets and CSV. */
import type { Parsed } from "../../document/Document.ts"
import type { Locator } from "../../document/Locator.ts"
import { withFigures } from "../parsing/Captions.ts"
import type { DraftBlock } from "../parsing/DraftBlock.ts"
import { MAX_CELLS } from "../parsing/TableGrid.ts"

/** A cell with text. Columns count from 1. `isCopy`: it is covered by a merged cell, whose text it has. */
export type SheetCell = readonly [column: number, text: string, isCopy?: boolean]

/** A row with its number in the sheet, from 1, and its cells with text in order. */
export interface SheetRow {
  readonly number: number
  readonly cells: ReadonlyArray<SheetCell>
}

/** 1 is A, 27 is AA. */
export const columnName = (column: number): string =>
  column > 26
    ? columnName(Math.floor((column - 1) / 26)) + columnName(((column - 1) % 26) + 1)
    : String.fromCharCode(64 + column)

/** A sheet's name as formulas have it: `Fees!`, `'Winter fees'!`. */
const sheetReference = (name: string): string =>
  `${/^\p{L}[\p{L}\p{N}_.]*$/u.test(name) ? name : `'${name.replaceAll("'", "''")}'`}!`

/** Cells for each one with text. In sparser tables only the cells with text are written. */
const MAX_SPARSITY = 20

const oneLine = (cell: string): string => cell.replace(/\s+/g, " ").trim()

const isNumeric = (cell: string): boolean => /\d/.test(cell) && !/\p{L}/u.test(cell)

/** The one text of a row: a title, which may be in a merged cell. Figures of a merged cell are figures. */
const titleIn = ({ cells }: SheetRow): string | undefined => {
  const first = cells[0]?.[1] ?? ""
  if (cells.length > 1 && isNumeric(first)) return undefined
  return cells.every(([, text, isCopy], at) => text === first && (at === 0 || isCopy === true))
    ? first
    : undefined
}

/** The columns of a table that have text, in order. */
const columnsOf = (rows: ReadonlyArray<SheetRow>): ReadonlyArray<number> => {
  const columns = new Set<number>()
  for (const { cells } of rows) for (const [column] of cells) columns.add(column)
  return [...columns].toSorted((a, b) => a - b)
}

/** Rows without blank ones between. A blank row before a row of figures does not end a table: headers have words. */
const groupsOf = (rows: ReadonlyArray<SheetRow>): ReadonlyArray<ReadonlyArray<SheetRow>> => {
  const groups: Array<Array<SheetRow>> = []
  let last = -1
  for (const row of rows) {
    const hasFigures = row.cells.some(([, text]) => isNumeric(text)) && titleIn(row) === undefined
    const group = groups.at(-1)
    const isTable = group !== undefined && (group.length > 1 || titleIn(group[0]!) === undefined)
    if (group !== undefined && (row.number === last + 1 || (hasFigures && isTable))) group.push(row)
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
      const own = cells.flatMap((cell): ReadonlyArray<SheetCell> => {
        const line = oneLine(cell[1])
        return line === "" ? [] : [line === cell[1] ? cell : [cell[0], line, cell[2] === true]]
      })
      return own.length > 0 ? [{ number, cells: own }] : []
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

  finish(format: string, faults: Parsed["faults"]): Parsed {
    const text = this.#lines.join("\n").toWellFormed()
    const { pictures: _, ...parsed } = withFigures({ format, title: "", text, faults }, this.#blocks)
    return { ...parsed, locators: this.#locators }
  }

  #rows(name: string | undefined, rows: ReadonlyArray<SheetRow>, isTable: boolean): void {
    const columns = columnsOf(rows)
    const size = rows.length * columns.length
    const isSparse =
      size > MAX_CELLS && size > MAX_SPARSITY * rows.reduce((sum, { cells }) => sum + cells.length, 0)
    const places = new Map(columns.map((column, at) => [column, at]))
    const cellsOf = ({ cells }: SheetRow): Array<string> => {
      if (isSparse) return cells.map(([, text]) => text)
      const texts: Array<string> = []
      for (const [column, text] of cells) {
        while (texts.length < places.get(column)!) texts.push("")
        texts.push(text)
      }
      return texts
    }
    const lines = rows.map(
      (row) => (isTable ? undefined : titleIn(row)) ?? cellsOf(row).join(" | ").trimStart()
    )
    const [from, to] = [columnName(columns[0]!), columnName(columns.at(-1)!)]
    const start = this.#write(lines)
    let at = start
    for (const [i, { number }] of rows.entries()) {
      const end = at + lines[i]!.length
      const label = name === undefined ? `row ${number}` : `${sheetReference(name)}${from}${number}`
      this.#locators.push({ start: at, end, label, ...(name === undefined ? {} : { to: `${to}${number}` }) })
      at = end + 1
    }
    const filled = (row: SheetRow): Array<string> => {
      const cells = cellsOf(row)
      return [...cells, ...Array.from({ length: columns.length - cells.length }, () => "")]
    }
    // Without rows or a description, a table is taken for a layout
    const figure =
      size > MAX_CELLS ? { alternative: "", pictures: [] } : { rows: rows.map(filled), pictures: [] }
    if (isTable && columns.length > 1) this.#block({ kind: "table", figure }, start)
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
