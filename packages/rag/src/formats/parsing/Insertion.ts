/** Text put into a document that was already read, at the ends of figures. */
import type { Figure, Parsed, Span } from "../../document/Document.ts"

/** What is put into the text, and where: the end of a figure. */
export interface Insertion {
  readonly at: number
  readonly text: string
}

/** The document with the insertions: figures and blocks that end at one hold it, and what follows has moved. */
export const insertTexts = (parsed: Parsed, insertions: ReadonlyArray<Insertion>): Parsed => {
  if (insertions.length === 0) return parsed
  const sorted = insertions.toSorted((a, b) => a.at - b.at)
  const sums = [0]
  for (const { text } of sorted) sums.push(sums.at(-1)! + text.length)
  /** Characters inserted before `offset`; `at` it as well when they belong to what ends there. */
  const moved = (offset: number, at: boolean): number => {
    let low = 0
    let high = sorted.length
    while (low < high) {
      const middle = (low + high) >> 1
      const before = at ? sorted[middle]!.at <= offset : sorted[middle]!.at < offset
      if (before) low = middle + 1
      else high = middle
    }
    return offset + sums[low]!
  }
  const outer = <A extends Span>(span: A): A => ({
    ...span,
    start: moved(span.start, true),
    end: moved(span.end, true)
  })
  const inner = <A extends Span>(span: A): A => ({
    ...span,
    start: moved(span.start, true),
    end: moved(span.end, false)
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
      ...outer(figure),
      mentions: mentions.map(inner),
      ...(caption === undefined ? {} : { caption: inner(caption) })
    }
  })
  return { ...parsed, text: text + parsed.text.slice(from), blocks: parsed.blocks.map(outer), figures }
}
