/** Splits a table into rows and cells, by its lines or by the gaps between its columns. */
import type { Box } from "../../../document/Document.ts"
import { centre, height, hull, overlapX, overlapY, width } from "../page/Box.ts"
import { middle } from "../page/Lines.ts"
import { splitAtGaps, textOfRow, toRows } from "../page/Rows.ts"
import { boxOf, separatorOf, type Graphic, type Run } from "../page/Run.ts"
import { Tolerances } from "./Tolerances.ts"

const limits = Tolerances.tables

/** A number as a cell. Two numbers below each other are two cells, even without a line between them. */
const FIGURES = /^[-+±<>~$€£]?\d[\d.,]*\s?[%\p{L}]{0,5}$/u

interface Cell {
  readonly text: string
  readonly box: Box
}

/** The cells of each line, from top to bottom and left to right. Empty if there are too many lines. */
const toLines = (runs: ReadonlyArray<Run>): ReadonlyArray<ReadonlyArray<Cell>> => {
  const rows = toRows(runs)
  if (rows.length > limits.maxRows) return []
  return rows
    .toSorted((a, b) => middle(a[0]!) - middle(b[0]!))
    .map((row) =>
      splitAtGaps(row, limits.cellGap).map((cell) => ({
        text: textOfRow(cell),
        box: hull(cell.map(boxOf))
      }))
    )
}

/** Whether a cell extends over an x on both sides. */
const crosses = ({ box }: Cell, x: number): boolean =>
  box[0] < x - limits.crosses && box[2] > x + limits.crosses

/** The x of each column boundary: vertical lines, or gaps that few rows cross. */
const edgesOf = (
  lines: ReadonlyArray<ReadonlyArray<Cell>>,
  upright: ReadonlyArray<Box>,
  box: Box
): ReadonlyArray<number> => {
  const drawn = [...new Set(upright.map((one) => Math.round((one[0] + one[2]) / 2)))]
    .toSorted((a, b) => a - b)
    .filter((x, i, all) => i === 0 || x - all[i - 1]! > limits.sameLine)
    .filter((x) => x > box[0] + limits.insideEdge && x < box[2] - limits.insideEdge)
  const cells = lines.flat()
  if (
    drawn.length > 0 &&
    drawn.every((x) => cells.filter((cell) => crosses(cell, x)).length <= limits.maxCrossing * lines.length)
  )
    return drawn
  // Number of rows with text at each x
  const size = Math.ceil(width(box)) + 1
  const filled = new Float64Array(size + 1)
  for (const line of lines) {
    for (const cell of line) {
      const from = Math.max(0, Math.floor(cell.box[0] - box[0]))
      const to = Math.min(size, Math.ceil(cell.box[2] - box[0]))
      for (let x = from; x < to; x++) filled[x]! += 1
    }
  }
  const allowed = Math.floor(limits.maxCrossing * lines.length)
  const edges: Array<number> = []
  for (let x = 1; x < size; x++) {
    if (filled[x]! > allowed) continue
    let end = x
    while (end < size && filled[end]! <= allowed) end++
    let least = x
    for (let at = x; at < end; at++) if (filled[at]! < filled[least]!) least = at
    let last = least
    while (last + 1 < end && filled[last + 1] === filled[least]) last++
    if (end - x >= limits.minColumnGap && x > limits.atEdge && end < size - limits.atEdge)
      edges.push(box[0] + (least + last + 1) / 2)
    x = end
  }
  return edges
}

/** Joins the lines of a cell. Keeps hyphens at line ends, which may belong to the word. */
export const joined = (texts: ReadonlyArray<string>): string =>
  texts.reduce((before, after) => {
    if (before === "" || after === "") return before + after
    return before + (/\p{L}-$/u.test(before) ? "" : separatorOf(before, after)) + after
  }, "")

export interface TableRow {
  readonly cells: ReadonlyArray<string>
  /** Its text, each cell once. */
  readonly text: string
  /** The box of its text, in the frame of the runs. */
  readonly box: Box
}

/**
 * The rows of a table, each with as many cells as it has columns; undefined where neither lines nor gaps make a grid.
 * `runs` and `graphics` are in one frame, in which the text is upright.
 */
export const rowsOf = (
  runs: ReadonlyArray<Run>,
  graphics: ReadonlyArray<Graphic>
): ReadonlyArray<TableRow> | undefined => {
  if (runs.length < limits.minRuns || runs.length > limits.maxRuns) return undefined
  const box = hull(runs.map(boxOf))
  if (width(box) > limits.maxWidth) return undefined
  const lines = toLines(runs)
  const upright = graphics.flatMap(({ box: own, shape }) =>
    shape === "vertical" && overlapY(own, box) > 0 ? [own] : []
  )
  const edges = edgesOf(lines, upright, box)
  const columns = edges.length + 1
  if (columns < limits.minColumns || columns > limits.maxColumns || lines.length < limits.minRows)
    return undefined
  const level = tableRules(graphics, true)
    .filter((rule) => overlapX(rule, box) > limits.ruleShare * width(box))
    .map((rule) => (rule[1] + rule[3]) / 2)
    .filter((y, i, all) => i === 0 || y - all[i - 1]! > limits.sameRule)
  const rows: Array<{ readonly cells: Array<string>; box: Box }> = []
  // Rules between all rows separate them. Otherwise each line is a row, and a line without a first cell continues the row
  const bands = level.filter((y) => y > box[1] + limits.crosses && y < box[3] - limits.crosses).length
  const grid =
    upright.length > 0 && edges.every((x) => upright.some((one) => Math.abs(one[0] - x) < limits.atRule))
  const ruled = bands >= limits.minBands && (grid || bands >= lines.length / limits.linesPerBand)
  for (const line of lines) {
    const cells = Array.from({ length: columns }, () => "")
    for (const cell of line) {
      const [x] = centre(cell.box)
      const spans = edges.some((edge) => crosses(cell, edge))
      const at = edges.filter((edge) => edge < (spans ? cell.box[0] + limits.startSlack : x)).length
      cells[at] = joined([cells[at]!, cell.text])
    }
    const own = hull(line.map((cell) => cell.box))
    const last = rows.at(-1)
    const isSeparate =
      last === undefined ||
      level.some((y) => y > last.box[3] - limits.ruleOverlap && y < own[1] + limits.ruleOverlap)
    const continues =
      cells[0] === "" &&
      cells.filter((cell) => cell !== "").length <= Math.max(1, columns / limits.continuedCells) &&
      !cells.some((cell) => FIGURES.test(cell))
    const numbers = cells.some(
      (cell, i) => FIGURES.test(cell) && FIGURES.test((last?.cells[i] ?? "").split(" ").at(-1)!)
    )
    if (
      last !== undefined &&
      !isSeparate &&
      ((ruled && !numbers) || (continues && own[1] - last.box[3] < limits.continuedGap * height(own)))
    ) {
      cells.forEach((cell, i) => (last.cells[i] = joined([last.cells[i]!, cell])))
      last.box = hull([last.box, own])
    } else rows.push({ cells, box: own })
  }
  const filled = rows.flatMap(({ cells }) => cells).filter((cell) => cell !== "").length
  if (rows.length < limits.minRows || filled < limits.filledShare * rows.length * columns) return undefined
  return rows.map((row) => ({ ...row, text: row.cells.filter((cell) => cell !== "").join(" | ") }))
}

/** The rules that a graphic draws: itself, or the upper and lower edge of a cell's rectangle. */
const ruleEdges = ({ box, shape }: Graphic): ReadonlyArray<Box> => {
  if (shape === "horizontal") return [box]
  const isCell = width(box) >= limits.minCellWidth && height(box) >= limits.minCellHeight
  if (!isCell || (shape !== "frame" && shape !== "filled")) return []
  return [
    [box[0], box[1], box[2], box[1]],
    [box[0], box[3], box[2], box[3]]
  ]
}

/** Horizontal rules from top to bottom, their pieces joined. `cells` includes the edges of rectangles. */
export const tableRules = (graphics: ReadonlyArray<Graphic>, cells = false): ReadonlyArray<Box> => {
  const sorted = graphics
    .flatMap((graphic) => (cells || graphic.shape === "horizontal" ? ruleEdges(graphic) : []))
    .toSorted((a, b) => a[1] - b[1] || a[0] - b[0])
    .slice(0, limits.maxRules)
  const rules: Array<Box> = []
  for (const box of sorted) {
    const at = rules.findLastIndex(
      (rule) =>
        Math.abs(rule[1] - box[1]) < limits.sameHeight &&
        box[0] - rule[2] < limits.joinGap &&
        rule[0] - box[2] < limits.joinGap
    )
    if (at === -1) rules.push(box)
    else rules[at] = hull([rules[at]!, box])
  }
  return rules
}
