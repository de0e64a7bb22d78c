/** Invariants of parsed documents of every format. */
import type { Parsed, Span } from "../../packages/rag/src/document/Document.ts"

const within = (inner: Span, outer: Span): boolean => inner.start >= outer.start && inner.end <= outer.end

/** The first invariant of blocks, figures, lines and pages that a document breaks; undefined if it keeps all. */
export const brokenLaw = ({ blocks, figures, lines, pages, text }: Parsed): string | undefined => {
  let end = 0
  for (const block of blocks) {
    if (block.start < end || block.end <= block.start) return `block ${JSON.stringify(block)} after ${end}`
    if (text.slice(block.start, block.end).trim() === "") return `block ${block.start} is blank`
    end = block.end
  }
  if (end > text.length) return `a block ends at ${end} of ${text.length}`
  if (!text.isWellFormed()) return "the text has half a character"
  let last = -1
  for (const figure of figures) {
    if (figure.start <= last) return `figure ${figure.start} stands after one at ${last}`
    last = figure.start
    const block = blocks.find(({ start }) => start === figure.start)
    if (block?.end !== figure.end) return `figure ${figure.start} to ${figure.end} is no block`
    if (block.kind !== "figure" && block.kind !== "table") return `figure ${figure.start} is a ${block.kind}`
    const { caption, mentions, number, rows } = figure
    if (caption !== undefined) {
      const words = text.slice(caption.start, caption.end)
      if (!within(caption, figure) || words.trim() === "")
        return `the caption at ${caption.start} is not in its figure`
      if (number !== undefined && !words.includes(number)) return `${number} is not in the caption ${words}`
    } else if (number !== undefined) return `figure ${number} has no caption`
    if (rows?.some((row) => row.length !== rows[0]!.length))
      return `rows at ${figure.start} are of several lengths`
    for (const mention of mentions) {
      const holder = blocks.find((block) => within(mention, block))
      if (holder === undefined || holder.kind === "figure" || holder.kind === "table")
        return `a mention at ${mention.start} is no text`
    }
  }
  for (const span of [...lines, ...pages]) {
    if (span.start > span.end || span.end > text.length)
      return `a line or page ends at ${span.end} of ${text.length}`
  }
  return undefined
}
