/** The cells of a table as rows and columns, whatever cells span. */

/** A table of more cells has no rows: its text is read all the same. */
const CELLS_AT_MOST = 100_000
/** … and one that says more characters again, since cells span rows. */
const AGAIN_AT_MOST = 100_000
/** As browsers have it. */
const SPAN_AT_MOST = 1_000

export interface CellSpan {
  readonly columns?: number
  readonly rows?: number
  /** The cell goes on with the one above it, as Word writes a merged cell. */
  readonly continued?: boolean
}

interface Spanning {
  readonly text: string
  /** Rows that it still reaches down to. */
  left: number
}

/** Fed cell by cell, in the order of the document. A cell that spans rows or columns stands in each of them. */
export class TableGrid {
  readonly #rows: Array<Array<string>> = []
  #row: Array<string> | undefined
  #above: ReadonlyArray<string> = []
  #spanning: Array<Spanning | undefined> = []
  #cells = 0
  #again = 0
  #open: CellSpan | undefined
  broken = false

  /** Texts of cells from above that stand in this row before the next of its own. */
  openRow(): void {
    if (this.broken) return
    this.#above = this.#row ?? []
    this.#row = []
    this.#rows.push(this.#row)
  }

  /** Texts that stand in the next columns because a cell above reaches down. */
  openCell(cell: CellSpan): ReadonlyArray<string> {
    if (this.broken) return []
    if (this.#row === undefined) this.openRow()
    this.#open = cell
    return this.#carry()
  }

  /** What the cell says: its own text, or that of the cell it goes on with. */
  closeCell(own: string): string {
    const cell = this.#open
    const row = this.#row
    if (this.broken || cell === undefined || row === undefined) return own
    this.#open = undefined
    const text = cell.continued === true && own === "" ? (this.#above[row.length] ?? "") : own
    const width = Math.min(SPAN_AT_MOST, Math.max(1, cell.columns ?? 1))
    const down = Math.min(SPAN_AT_MOST, Math.max(1, cell.rows ?? 1)) - 1
    for (let i = 0; i < width && this.#take(1); i++) {
      if (down > 0) this.#spanning[row.length] = { text, left: down }
      row.push(text)
    }
    return text
  }

  /** Texts that stand at the end of the row because a cell above reaches down. */
  closeRow(): ReadonlyArray<string> {
    const last: Array<string> = []
    const row = this.#row
    if (this.broken || row === undefined) return last
    while (row.length < this.#spanning.length) {
      const carried = this.#carry()
      if (carried.length > 0) last.push(...carried)
      else if (this.#take(1)) row.push("")
      else break
    }
    while (row.at(-1) === "" && row.length > (this.#rows[0]?.length ?? 0)) row.pop()
    return last
  }

  /** Of equal length; undefined when there are less than two rows or columns. */
  rows(): ReadonlyArray<ReadonlyArray<string>> | undefined {
    const rows = this.#rows.filter((row) => row.some((cell) => cell !== ""))
    const width = rows.reduce((most, row) => Math.max(most, row.length), 0)
    if (this.broken || rows.length < 2 || width < 2 || rows.length * width > CELLS_AT_MOST) return undefined
    return rows.map((row) => [...row, ...Array.from({ length: width - row.length }, () => "")])
  }

  #carry(): ReadonlyArray<string> {
    const carried: Array<string> = []
    const row = this.#row!
    for (;;) {
      const from = this.#spanning[row.length]
      if (from === undefined || from.left === 0 || !this.#take(1, from.text.length)) return carried
      from.left--
      // A cell that also spans columns is said once
      if (carried.at(-1) !== from.text) carried.push(from.text)
      row.push(from.text)
    }
  }

  #take(cells: number, again = 0): boolean {
    this.#cells += cells
    this.#again += again
    if (this.#cells <= CELLS_AT_MOST && this.#again <= AGAIN_AT_MOST) return true
    this.broken = true
    return false
  }
}

const DELIMITERS = [",", ";", "\t", "|"] as const

/** What stands most often in the header, quoted cells aside; undefined where none of them does. */
export const delimiterOf = (header: string): string | undefined => {
  const plain = header.replace(/"(?:[^"]|"")*"/g, "")
  const counts = DELIMITERS.map((delimiter) => plain.split(delimiter).length)
  const most = Math.max(...counts)
  return most === 1 ? undefined : DELIMITERS[counts.indexOf(most)]
}
