/** The size of passages, and the splitting of large blocks. */
import type { Block, Span } from "../document/Document.ts"

/** The size that passages are filled to: about 160 English words, enough to answer and few enough to rank well. */
export const TARGET_SIZE = 1000
/** The maximum size, so that rerankers with 512 tokens see the whole passage. */
export const MAX_SIZE = 1600
/** A Chinese, Japanese or Korean character counts as this many Latin letters: 400 fill a passage. */
const CJK_SIZE = 2.5

const isWide = (code: number): boolean =>
  (code >= 0x2e80 && code <= 0x9fff) ||
  (code >= 0xac00 && code <= 0xd7af) ||
  (code >= 0xf900 && code <= 0xfaff)

/** Whether any character counts more than one. If not, the size of a text is its length. */
export const hasWide = (text: string): boolean => /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]/.test(text)

/** The size of a part of `text`: characters, wide ones counted `CJK_SIZE` times. */
export const textSize = (text: string, start: number, end: number): number => {
  let wide = 0
  for (let i = start; i < end; i++) if (isWide(text.charCodeAt(i))) wide++
  return end - start + wide * (CJK_SIZE - 1)
}

const sentences = new Intl.Segmenter("en", { granularity: "sentence" })

/** The ends of sentences. A line break inside a paragraph does not end a sentence. */
const sentenceEnds = (text: string, { end, start }: Span): ReadonlyArray<number> => {
  const ends: Array<number> = []
  const prose = text.slice(start, end).replace(/[\r\n\u2028\u2029]/g, " ")
  for (const { index, segment } of sentences.segment(prose)) ends.push(start + index + segment.length)
  return ends
}

const lineEnds = (text: string, { end, start }: Span): ReadonlyArray<number> => {
  const ends: Array<number> = []
  const breaks = /\r\n?|\n/g
  breaks.lastIndex = start
  for (let match = breaks.exec(text); match !== null && match.index < end; match = breaks.exec(text)) {
    ends.push(breaks.lastIndex)
  }
  if (ends.at(-1) !== end) ends.push(end)
  return ends
}

/** Cuts text without sentences or lines: after white space, else between any two characters. */
const hardEnds = (text: string, { end, start }: Span): ReadonlyArray<number> => {
  const ends: Array<number> = []
  for (let at = start; at < end;) {
    let next = at
    let size = 0
    let blank = -1
    while (next < end && size + CJK_SIZE <= TARGET_SIZE) {
      const code = text.charCodeAt(next++)
      size += isWide(code) ? CJK_SIZE : 1
      if (code === 32 || (code >= 9 && code <= 13)) blank = next
    }
    if (next < end && blank > at + (next - at) / 2) next = blank
    else if (next < end && (text.charCodeAt(next) & 0xfc00) === 0xdc00) next--
    ends.push(next)
    at = next
  }
  return ends
}

const trim = (text: string, start: number, end: number): Span | undefined => {
  const slice = text.slice(start, end)
  const kept = slice.trimEnd()
  if (kept === "") return undefined
  const head = /^(?:[^\S\r\n]*[\r\n]+)*/.exec(slice)?.[0].length ?? 0
  return { start: start + head, end: start + kept.length }
}

/** Joins parts into pieces of about equal size, none above `MAX_SIZE` unless a single part is. */
const balance = (text: string, block: Span, ends: ReadonlyArray<number>): ReadonlyArray<Span> => {
  const total = textSize(text, block.start, block.end)
  const goal = total / Math.ceil(total / TARGET_SIZE)
  const pieces: Array<Span> = []
  let start = block.start
  let cut = block.start
  let size = 0
  for (const end of ends) {
    const own = textSize(text, cut, end)
    // Stop as near to the goal as possible.
    if (cut > start && (size + own > MAX_SIZE || Math.abs(size + own - goal) > Math.abs(size - goal))) {
      pieces.push({ start, end: cut })
      start = cut
      size = 0
    }
    cut = end
    size += own
  }
  if (cut > start) pieces.push({ start, end: cut })
  return pieces
}

/**
 * Splits a block larger than `MAX_SIZE`: prose after sentences, lists, tables and code after lines, and text with neither
 * after white space. Only white space is lost.
 */
export const splitBlock = (text: string, block: Block): ReadonlyArray<Span> => {
  const prose = block.kind === "paragraph" || block.kind === "heading"
  const pieces = balance(text, block, prose ? sentenceEnds(text, block) : lineEnds(text, block))
  return pieces.flatMap((piece) => {
    if (textSize(text, piece.start, piece.end) <= MAX_SIZE) return trim(text, piece.start, piece.end) ?? []
    // Large lines are split after sentences, large sentences after lines, and the rest after white space.
    const finer = prose ? lineEnds(text, piece) : sentenceEnds(text, piece)
    return balance(text, piece, finer)
      .flatMap((span) =>
        textSize(text, span.start, span.end) <= MAX_SIZE ? [span] : balance(text, span, hardEnds(text, span))
      )
      .flatMap((span) => trim(text, span.start, span.end) ?? [])
  })
}
