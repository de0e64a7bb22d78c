/** Rows and columns of a table whose cells may span several. */

/** Larger tables get no rows, only text. */
export const MAX_CELLS = 100_000
/** Characters that cells repeat in the rows that they span. */
const MAX_REPEATED = 100_000
/** The limit of browsers. */
const MAX_SPAN = 1_000

export interface CellSpan {
  readonly columns?: number
  readonly rows?: number
  /** Whether it continues the cell above: Word's form of merged cells. */
  readonly continued?: boolean
}

interface SpanningCell {
  readonly text: string
  rowsLeft: number
}

/** Takes cells in the order of the document. A cell that spans rows or columns is repeated in each of them. */
export class TableGrid {
  readonly #rows: Array<Array<string>> = []
  #row: Array<string> | undefined
  #above: ReadonlyArray<string> = []
  /** By column. */
  readonly #spanning: Array<SpanningCell | undefined> = []
  #cells = 0
  #repeated = 0
  #cell: CellSpan | undefined
  /** Whether it has no rows: it is too large, or not a real table. */
  broken = false

  openRow(): void {
    if (this.broken) return
    this.#above = this.#row ?? []
    this.#row = []
    this.#rows.push(this.#row)
  }

  /** Returns the texts of cells from above in the next columns. */
  openCell(cell: CellSpan): ReadonlyArray<string> {
    if (this.broken) return []
    if (this.#row === undefined) this.openRow()
    this.#cell = cell
    return this.#carryDown()
  }

  /** Returns the cell's text: its own, or that of the cell which it continues. */
  closeCell(own: string): string {
    const cell = this.#cell
    const row = this.#row
    if (this.broken || cell === undefined || row === undefined) return own
    this.#cell = undefined
    const text = cell.continued === true && own === "" ? (this.#above[row.length] ?? "") : own
    const width = Math.min(MAX_SPAN, Math.max(1, cell.columns ?? 1))
    const down = Math.min(MAX_SPAN, Math.max(1, cell.rows ?? 1)) - 1
    for (let i = 0; i < width && this.#take(); i++) {
      if (down > 0) this.#spanning[row.length] = { text, rowsLeft: down }
      row.push(text)
    }
    return text
  }

  /** Returns the texts of cells from above at the end of the row. */
  closeRow(): ReadonlyArray<string> {
    const last: Array<string> = []
    const row = this.#row
    if (this.broken || row === undefined) return last
    while (row.length < this.#spanning.length) {
      const carried = this.#carryDown()
      if (carried.length > 0) last.push(...carried)
      else if (this.#take()) row.push("")
      else break
    }
    while (row.at(-1) === "" && row.length > (this.#rows[0]?.length ?? 0)) row.pop()
    return last
  }

  /** Rows of equal length; undefined if there are fewer than two rows or columns. */
  rows(): ReadonlyArray<ReadonlyArray<string>> | undefined {
    const rows = this.#rows.filter((row) => row.some((cell) => cell !== ""))
    const width = rows.reduce((most, row) => Math.max(most, row.length), 0)
    if (this.broken || rows.length < 2 || width < 2 || rows.length * width > MAX_CELLS) return undefined
    return rows.map((row) => [...row, ...Array.from({ length: width - row.length }, () => "")])
  }

  #carryDown(): ReadonlyArray<string> {
    const carried: Array<string> = []
    const row = this.#row!
    for (;;) {
      const from = this.#spanning[row.length]
      if (from === undefined || from.rowsLeft === 0 || !this.#take(from.text.length)) return carried
      from.rowsLeft--
      // A cell that also spans columns is returned once
      if (carried.at(-1) !== from.text) carried.push(from.text)
      row.push(from.text)
    }
  }

  /** Counts a cell, and breaks at the limits. */
  #take(repeated = 0): boolean {
    this.#cells++
    this.#repeated += repeated
    if (this.#cells <= MAX_CELLS && this.#repeated <= MAX_REPEATED) return true
    this.broken = true
    return false
  }
}
