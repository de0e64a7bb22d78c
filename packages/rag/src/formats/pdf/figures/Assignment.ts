/** Assigns regions to the captions of a page: the best choice without overlaps. */
import { area, sharedArea } from "../page/Box.ts"
import type { Box } from "../../../document/Document.ts"
import type { Caption } from "./Captions.ts"
import { Tolerances } from "./Tolerances.ts"

const limits = Tolerances.assignment

export type Side = "above" | "below" | "left" | "right"

/** A region that may be the figure of a caption. */
export interface FigureRegion {
  readonly caption: Caption
  readonly side: Side
  readonly box: Box
  /** Score 0 to 1: how much it looks like a figure or table. */
  readonly content: number
  /** Distance from the caption, in points. */
  readonly gap: number
  /** Whether it ends where no more drawings follow, and not at a gap before. */
  readonly isWhole: boolean
}

/** How often the captions of a kind have their figure on each side, in one document; 0 to 1, together 1. */
type SidePreference = Readonly<Record<"figure" | "table", Readonly<Record<Side, number>>>>

/** The intersection as a share of the smaller box, 0 to 1. */
export const overlap = (a: Box, b: Box): number => sharedArea(a, b) / Math.max(1, Math.min(area(a), area(b)))

/** Learns the preferred side from captions with a good region on one side only. */
export const sidePreferenceOf = (
  pages: ReadonlyArray<ReadonlyArray<ReadonlyArray<FigureRegion>>>
): SidePreference => {
  const votes: Record<"figure" | "table", Record<Side, number>> = structuredClone(limits.priorPreference)
  for (const candidates of pages.flat()) {
    const good = candidates.filter(({ content, isWhole }) => isWhole && content >= limits.clearContent)
    if (good.length === 1) votes[good[0]!.caption.kind][good[0]!.side] += 1
  }
  const share = (of: Record<Side, number>): Record<Side, number> => {
    const all = of.above + of.below + of.left + of.right
    return { above: of.above / all, below: of.below / all, left: of.left / all, right: of.right / all }
  }
  return { figure: share(votes.figure), table: share(votes.table) }
}

const scoreOf = ({ caption, content, gap, side }: FigureRegion, preference: SidePreference): number =>
  content + limits.preferenceWeight * preference[caption.kind][side] - gap / limits.gapWeight

/** The best choice for the captions of one page; a caption may get none. */
export const assign = (
  page: ReadonlyArray<ReadonlyArray<FigureRegion>>,
  preference: SidePreference
): ReadonlyArray<FigureRegion> => {
  const options = page.map((candidates) =>
    candidates
      .filter(({ content }) => content >= limits.minContent)
      .map((candidate) => ({ candidate, score: scoreOf(candidate, preference) }))
      .toSorted((a, b) => b.score - a.score)
  )
  let best = { chosen: new Array<FigureRegion>(), score: -Infinity }
  let steps = 0
  // Upper bound of the remaining score, to skip branches that cannot win
  const rest = options.map((_, i) =>
    options.slice(i).reduce((sum, own) => sum + Math.max(0, own[0]?.score ?? 0), 0)
  )
  const choose = (index: number, chosen: Array<FigureRegion>, score: number): void => {
    if (index === options.length) {
      if (score > best.score) best = { chosen, score }
      return
    }
    if (++steps > limits.maxSteps || score + rest[index]! <= best.score) return
    for (const { candidate, score: own } of options[index]!) {
      if (own > 0 && chosen.every((other) => overlap(other.box, candidate.box) < limits.maxOverlap))
        choose(index + 1, [...chosen, candidate], score + own)
    }
    choose(index + 1, chosen, score)
  }
  choose(0, [], 0)
  return best.chosen
}
