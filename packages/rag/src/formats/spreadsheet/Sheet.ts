/** A sheet of a workbook while it is read: its cells, and the cells that are merged. */
import { tooLarge } from "../parsing/FormatFault.ts"
import type { SheetCell, SheetRow } from "./SheetText.ts"

/** The limits of Excel. Cells beyond them are not read. */
export const MAX_ROWS = 1_048_576
const MAX_COLUMNS = 16_384
/** Cells with text in one workbook: 100,000 rows of 50. They take 500 MB. */
const MAX_TEXT_CELLS = 5_000_000
/** Cells that merged ones fill. */
const MAX_MERGED = 100_000

/** Cells counted over all sheets of a workbook. */
export interface CellCount {
  cells: number
  merged: number
}

export class Sheet {
  readonly #rows = new Map<number, Map<number, SheetCell>>()
  readonly #count: CellCount

  constructor(count: CellCount) {
    this.#count = count
  }

  /** Sets a cell. `row` and `column` count from 1. */
  set(row: number, column: number, text: string, isCopy?: boolean): void {
    if (text === "" || row > MAX_ROWS || column > MAX_COLUMNS) return
    if (++this.#count.cells > MAX_TEXT_CELLS) {
      throw tooLarge(`it has more than ${MAX_TEXT_CELLS.toLocaleString("en-US")} cells`)
    }
    const cells = this.#rows.get(row) ?? new Map<number, SheetCell>()
    this.#rows.set(row, cells.set(column, isCopy === true ? [column, text, true] : [column, text]))
  }

  /** Repeats the first cell of a range in all of it. */
  merge(row: number, column: number, rows: number, columns: number): void {
    const text = this.#rows.get(row)?.get(column)?.[1] ?? ""
    if (text === "") return
    for (let i = 0; i < rows; i++) {
      for (let j = 0; j < columns; j++) {
        if (i + j === 0) continue
        if (++this.#count.merged > MAX_MERGED) return
        this.set(row + i, column + j, text, true)
      }
    }
  }

  rows(): ReadonlyArray<SheetRow> {
    return Array.from(this.#rows, ([number, cells]) => ({
      number,
      cells: [...cells.values()].toSorted(([a], [b]) => a - b)
    })).toSorted((a, b) => a.number - b.number)
  }
}
