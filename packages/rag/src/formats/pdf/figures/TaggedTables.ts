/** Tables from the tags of a PDF, where the tags agree with the layout. */
import type { Box } from "../../../document/Document.ts"
import { centre, contains, height, hull, overlapX, width } from "../page/Box.ts"
import { median, toLines } from "../page/Lines.ts"
import {
  byTurn,
  type CellTag,
  lengthOf,
  type RawPage,
  type Run,
  type TableTag,
  type Turn,
  upright
} from "../page/Run.ts"
import { joined, type TableRow } from "./TableRows.ts"
import { Tolerances } from "./Tolerances.ts"

const limits = Tolerances.taggedTables

export interface TaggedTable {
  readonly box: Box
  readonly turn: Turn
  readonly rows: ReadonlyArray<TableRow>
  /** The runs of its cells. */
  readonly runs: ReadonlyArray<Run>
  readonly caption: ReadonlyArray<Run>
}

interface PlacedCell extends CellTag {
  readonly row: number
  readonly column: number
}

interface Cell extends PlacedCell {
  readonly runs: ReadonlyArray<Run>
  /** The box of its text, in the frame of the table. */
  readonly box: Box
}

/** The runs of each part of the structure. */
export const runsByPart = ({ runs }: RawPage): ReadonlyMap<number, ReadonlyArray<Run>> =>
  Map.groupBy(
    runs.filter(({ part }) => part !== undefined),
    ({ part }) => part!
  )

/** The row and column of each cell; cells that span rows shift those below to the right. Undefined if there are too many columns. */
const withPositions = ({ rows }: TableTag): ReadonlyArray<PlacedCell> | undefined => {
  const until = Array.from({ length: Tolerances.tables.maxColumns }, () => 0)
  const all: Array<PlacedCell> = []
  for (const [row, cells] of rows.entries()) {
    let column = 0
    for (const cell of cells) {
      while (column < Tolerances.tables.maxColumns && until[column]! > row) column++
      if (column + cell.columns > Tolerances.tables.maxColumns) return undefined
      all.push({ ...cell, row, column })
      until.fill(row + cell.rows, column, column + cell.columns)
      column += cell.columns
    }
  }
  return all
}

const textOf = (page: number, runs: ReadonlyArray<Run>): string =>
  joined(toLines(page, runs).map(({ text }) => text))

/** The box of each row or column, without cells that span several. */
const bandsOf = (cells: ReadonlyArray<Cell>, key: "row" | "column"): ReadonlyArray<Box> => {
  const own = cells.filter((cell) => cell[`${key}s`] === 1)
  const bands = [...Map.groupBy(own, (cell) => cell[key])].toSorted(([a], [b]) => a - b)
  return bands.map(([, band]) => hull(band.map(({ box }) => box)))
}

/** Whether rows are below each other and columns beside each other, as tagged. */
const isGrid = (cells: ReadonlyArray<Cell>): boolean => {
  const line = cells
    .flatMap(({ runs }) => runs)
    .reduce((least, { y0, y1 }) => Math.min(least, y1 - y0), Infinity)
  const [rows, columns] = [bandsOf(cells, "row"), bandsOf(cells, "column")]
  return (
    rows.length >= limits.minRowsAndColumns &&
    columns.length >= limits.minRowsAndColumns &&
    rows.every((box, i) => i === 0 || box[1] >= rows[i - 1]![3] - limits.rowSlack * line) &&
    columns.every((box, i) => i === 0 || box[0] >= columns[i - 1]![2] - limits.columnSlack)
  )
}

/** The rows with text. A cell that spans rows or columns is repeated in `cells`, and occurs once per row in `text`. */
const rowsFrom = (page: number, cells: ReadonlyArray<Cell>): ReadonlyArray<TableRow> => {
  const columns = Math.max(...cells.map((cell) => cell.column + cell.columns))
  const last = Math.max(...cells.map(({ row }) => row))
  const rows = Array.from({ length: last + 1 }, () => ({
    cells: Array.from({ length: columns }, () => ""),
    content: new Array<Cell>(),
    own: false
  }))
  const texts = new Map(cells.map((cell) => [cell, textOf(page, cell.runs)]))
  for (const cell of cells) {
    for (const [i, row] of rows.slice(cell.row, cell.row + cell.rows).entries()) {
      row.cells.fill(texts.get(cell)!, cell.column, cell.column + cell.columns)
      row.content.push(cell)
      row.own ||= i === 0
    }
  }
  return rows
    .filter(({ own }) => own)
    .map(({ cells: own, content }) => ({
      cells: own,
      text: content
        .toSorted((a, b) => a.column - b.column)
        .map((cell) => texts.get(cell)!)
        .join(" | "),
      box: hull(content.map(({ box }) => box))
    }))
}

/** The box of a table with the rules around it, which may be wider than its text. */
const withRules = (box: Box, { graphics }: RawPage): Box => {
  const near = graphics.filter((one) => {
    if (one.kind !== "path" || one.shape === "other") return false
    const across = overlapX(one.box, box)
    return (
      across >= Math.min(limits.ruleOverText * width(box), 0.5 * width(one.box)) &&
      one.box[1] >= box[1] - limits.ruleReach &&
      one.box[3] <= box[3] + limits.ruleReach
    )
  })
  return hull([box, ...near.map((one) => one.box)])
}

const tableOf = (
  tag: TableTag,
  page: RawPage,
  parts: ReadonlyMap<number, ReadonlyArray<Run>>
): TaggedTable | undefined => {
  const count = tag.rows.length
  if (tag.arranges || count < limits.minRowsAndColumns || count > Tolerances.tables.maxRows) return undefined
  const runs = tag.rows.flat().flatMap(({ part }) => (part === undefined ? [] : (parts.get(part) ?? [])))
  const main = byTurn(runs)[0]!
  if (main.length <= runs.length / 2) return undefined
  const { turn } = main[0]!
  const cells = withPositions(tag)?.flatMap((cell): ReadonlyArray<Cell> => {
    const own = cell.part === undefined ? [] : (parts.get(cell.part) ?? [])
    if (own.length === 0) return []
    const box = upright(hull(own.map((run) => run.box)), turn, page.width, page.height)
    return [{ ...cell, runs: own, box }]
  })
  if (cells === undefined || cells.length < limits.minCells || !isGrid(cells)) return undefined
  if (median(cells.map((cell) => lengthOf(cell.runs))) > limits.maxCellCharacters) return undefined
  const again = cells.reduce((sum, { columns, row, rows, runs: own }) => {
    const down = Math.min(rows, count - row)
    return sum + lengthOf(own) * (down * columns - 1)
  }, 0)
  if (again > limits.maxRepeatedCharacters) return undefined
  const box = hull(runs.map((run) => run.box))
  const known = new Set(runs)
  const foreign = page.runs.filter((run) => !known.has(run) && contains(box, ...centre(run.box)))
  if (lengthOf(foreign) > limits.foreignShare * lengthOf(runs) || height(box) <= 0) return undefined
  return {
    box: withRules(box, page),
    turn,
    rows: rowsFrom(page.number, cells),
    runs,
    caption: tag.caption === undefined ? [] : (parts.get(tag.caption) ?? [])
  }
}

/** The tagged tables of a page whose tags agree with the layout. */
export const taggedTables = (
  page: RawPage,
  parts: ReadonlyMap<number, ReadonlyArray<Run>>
): ReadonlyArray<TaggedTable> =>
  (page.tags?.tables ?? []).slice(0, limits.maxTables).flatMap((tag) => tableOf(tag, page, parts) ?? [])
