/** Figures from the tags of a PDF. */
import type { Box } from "../../../document/Document.ts"
import { area, height, hull, union, width } from "../page/Box.ts"
import { lengthOf, type RawPage, type Run } from "../page/Run.ts"
import { Tolerances } from "./Tolerances.ts"

const limits = Tolerances.taggedFigures

interface TaggedFigure {
  readonly box: Box
  readonly alternative: string
  readonly caption: ReadonlyArray<Run>
  /** Whether it can be a figure without a caption: it is large enough, and has text. */
  readonly isSufficient: boolean
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
    alternatives: alternative === "" ? [] : [alternative],
    caption,
    holdsTable
  }))
  for (let i = figures.length - 1; i >= 0; i--) {
    const outer = all[figures[i]!.outer ?? -1]
    if (outer === undefined) continue
    const { alternatives, drawn, holdsTable, labels } = all[i]!
    if (drawn !== undefined) outer.drawn = outer.drawn === undefined ? drawn : union(outer.drawn, drawn)
    outer.labels = [...outer.labels, ...labels]
    outer.alternatives.splice(figures[figures[i]!.outer!]!.alternative === "" ? 0 : 1, 0, ...alternatives)
    outer.holdsTable ||= holdsTable
  }
  return all.flatMap(
    ({ alternatives, caption, drawn, holdsTable, labels }, i): ReadonlyArray<TaggedFigure> => {
      if (figures[i]!.outer !== undefined || drawn === undefined || holdsTable) return []
      const box = hull([drawn, ...labels.map((run) => run.box)])
      const length = lengthOf(labels)
      const isSufficient =
        Math.min(width(box), height(box)) >= limits.minSide &&
        area(box) >= (alternatives.length > 0 ? limits.minShare : limits.minUndescribedShare) * paper &&
        length <= limits.maxCharacters &&
        alternatives.length + length > 0
      const own = caption === undefined ? [] : (parts.get(caption) ?? [])
      return [{ box, alternative: [...new Set(alternatives)].join(" "), caption: own, isSufficient }]
    }
  )
}
