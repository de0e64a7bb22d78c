/** Inserts texts into a parsed document at the ends of figures. */
import type { Figure, Parsed, Span } from "../../document/Document.ts"

export interface Insertion {
  /** The end of a figure. */
  readonly at: number
  readonly text: string
}

/** Figures and blocks that end at an insertion include it. What follows moves. */
export const insertTexts = (parsed: Parsed, insertions: ReadonlyArray<Insertion>): Parsed => {
  if (insertions.length === 0) return parsed
  const sorted = insertions.toSorted((a, b) => a.at - b.at)
  const sums = [0]
  for (const { text } of sorted) sums.push(sums.at(-1)! + text.length)
  /** The new offset. Insertions at `offset` are before it if `isAfter`. */
  const moved = (offset: number, isAfter: boolean): number => {
    let low = 0
    let high = sorted.length
    while (low < high) {
      const middle = (low + high) >> 1
      const { at } = sorted[middle]!
      if (at < offset || (isAfter && at === offset)) low = middle + 1
      else high = middle
    }
    return offset + sums[low]!
  }
  const move = <A extends Span>(span: A, includesEnd: boolean): A => ({
    ...span,
    start: moved(span.start, true),
    end: moved(span.end, includesEnd)
  })
  let text = ""
  let from = 0
  for (const { at, text: own } of sorted) {
    text += parsed.text.slice(from, at) + own
    from = at
  }
  const figures = parsed.figures.map((figure): Figure => {
    const { caption, mentions } = figure
    return {
      ...move(figure, true),
      mentions: mentions.map((span) => move(span, false)),
      ...(caption === undefined ? {} : { caption: move(caption, false) })
    }
  })
  const blocks = parsed.blocks.map((block) => move(block, true))
  return { ...parsed, text: text + parsed.text.slice(from), blocks, figures }
}
