/** Figures from the tags of a PDF. */
import type { Box } from "../../../document/Document.ts"
import { area, height, hull, union, width } from "../page/Box.ts"
import { type RawPage, type Run } from "../page/Run.ts"
import { Tolerances } from "./Tolerances.ts"

const limits = Tolerances.taggedFigures

interface TaggedFigure {
  readonly box: Box
  readonly alternative: string
  readonly caption: ReadonlyArray<Run>
  /** Whether it is large enough, and has a text, to be a figure without a caption. */
  readonly stands: boolean
}

/** The tagged and drawn figures of a page. Nested figures are merged into the outer one. */
export const taggedFigures = (
  { height: tall, tags, width: wide }: Pick<RawPage, "height" | "tags" | "width">,
  parts: ReadonlyMap<number, ReadonlyArray<Run>>
): ReadonlyArray<TaggedFigure> => {
  const figures = tags?.figures ?? []
  const paper = wide * tall
  const all = figures.map(({ alternative, caption, holdsTable, part }) => ({
    drawn: tags?.drawn.get(part),
    labels: [...(parts.get(part) ?? [])],
    said: alternative === "" ? [] : [alternative],
    caption,
    holdsTable
  }))
  for (let i = figures.length - 1; i >= 0; i--) {
    const outer = all[figures[i]!.outer ?? -1]
    if (outer === undefined) continue
    const { drawn, holdsTable, labels, said } = all[i]!
    if (drawn !== undefined) outer.drawn = outer.drawn === undefined ? drawn : union(outer.drawn, drawn)
    for (const label of labels) outer.labels.push(label)
    outer.said.splice(figures[figures[i]!.outer!]!.alternative === "" ? 0 : 1, 0, ...said)
    outer.holdsTable ||= holdsTable
  }
  return all.flatMap(({ caption, drawn, holdsTable, labels, said }, i): ReadonlyArray<TaggedFigure> => {
    if (figures[i]!.outer !== undefined || drawn === undefined || holdsTable) return []
    const box = hull([drawn, ...labels.map((run) => run.box)])
    const length = labels.reduce((sum, { text }) => sum + text.length, 0)
    const stands =
      Math.min(width(box), height(box)) >= limits.minSide &&
      area(box) >= (said.length > 0 ? limits.minShare : limits.minUndescribedShare) * paper &&
      area(box) <= Tolerances.frames.paperShare * paper &&
      length <= limits.maxCharacters &&
      said.length + length > 0
    const own = caption === undefined ? [] : (parts.get(caption) ?? [])
    return [{ box, alternative: [...new Set(said)].join(" "), caption: own, stands }]
  })
}
