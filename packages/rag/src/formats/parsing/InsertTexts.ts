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
  /** The new offset. Insertions at `offset` are before it if `isAfter`. */
  const moved = (offset: number, isAfter: boolean): number =>
    insertions.reduce(
      (sum, { at, text }) => (at < offset || (isAfter && at === offset) ? sum + text.length : sum),
      offset
    )
  const move = <A extends Span>(span: A, includesEnd: boolean): A => ({
    ...span,
    start: moved(span.start, true),
    end: moved(span.end, includesEnd)
  })
  let text = ""
  let from = 0
  for (const { at, text: own } of insertions.toSorted((a, b) => a.at - b.at)) {
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
