/** Where sentences begin and end. */
import { blocksOf } from "./blocks.ts"
import { readable, readableRow } from "./readable.ts"
import type { TextBlock } from "./TextBlock.ts"

/** A sentence, item, row or line of a passage. `text.slice(start, end)` is its source, to the letter. */
export interface Sentence {
  readonly kind: TextBlock["kind"]
  /** Without marks, in one line. */
  readonly text: string
  readonly start: number
  readonly end: number
  /** Number of its block within the passage. */
  readonly block: number
}

const segmenter = new Intl.Segmenter("en", { granularity: "sentence" })

/** A full stop after these, or after a single capital letter, ends no sentence. */
const ABBREVIATION =
  /(?:^|[\s([“"'])(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|vs|etc|al|cf|ca|approx|resp|incl|No|Nos|Nr|Fig|Figs|Eq|Eqs|Sec|Ch|Vol|pp?|ed|eds|e\.g|i\.e|a\.m|p\.m|U\.S|U\.K|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Inc|Ltd|Co|Corp|\p{Lu})\.\s*$/u

/** After these a new sentence may well begin: only what follows tells. */
const MAY_END = /(?:^|\s)(?:etc|al|a\.m|p\.m|U\.S|U\.K|Inc|Ltd|Co|Corp|Jr|Sr)\.\s*$/

/** Characters at the end of a sentence that tell whether its full stop ends it. */
const LAST_WORD = 32

const joins = (before: string, after: string): boolean =>
  /^[\p{Ll},;:)\]]/u.test(after) ||
  (ABBREVIATION.test(before) && !(MAY_END.test(before) && /^\p{Lu}/u.test(after)))

function* split(source: string): Generator<readonly [start: number, end: number]> {
  let start = -1
  let end = 0
  for (const { index, segment } of segmenter.segment(source)) {
    if (start >= 0 && !joins(source.slice(Math.max(start, end - LAST_WORD), end), segment)) {
      yield [start, end]
      start = -1
    }
    if (start < 0) start = index
    end = index + segment.length
  }
  if (start >= 0) yield [start, end]
}

/**
 * The sentences of a passage, in order. Markdown source, plain text, the text of a PDF (lines separated by single line
 * breaks) and Chinese are understood; headings, rows of tables and lines of code are a sentence each.
 */
export const sentencesOf = (text: string): ReadonlyArray<Sentence> =>
  blocksOf(text).flatMap(({ end, kind, start }, block): ReadonlyArray<Sentence> => {
    const source = text.slice(start, end)
    if (kind !== "paragraph" && kind !== "item") {
      return [
        {
          kind,
          text:
            kind === "row" || kind === "header"
              ? readableRow(source)
              : kind === "code"
                ? source
                : readable(source),
          start,
          end,
          block
        }
      ]
    }
    // To the segmenter a line break ends a sentence; here it does not.
    return Array.from(split(source.replace(/\n/g, " ")), ([from, to]) => {
      const piece = source.slice(from, to)
      const lead = piece.length - piece.trimStart().length
      const at = start + from + lead
      return { kind, text: readable(piece), start: at, end: at + piece.trim().length, block }
    }).filter((sentence) => sentence.text !== "")
  })
