/** Splits a passage into sentences. */
import type { ReaderPassage } from "../models/Reader.ts"
import { blocksOf } from "./Blocks.ts"
import { delimitedRows } from "./Tables.ts"
import { findEntries } from "./Entries.ts"
import { readable, readableCells, rowText } from "./Readable.ts"
import type { Sentence } from "./Sentence.ts"

const segmenter = new Intl.Segmenter("en", { granularity: "sentence" })

/** A full stop after these, or after a single capital letter, does not end a sentence. */
const ABBREVIATION =
  /(?:^|[\s([“"'])(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|vs|etc|al|cf|ca|approx|resp|incl|No|Nos|Nr|Fig|Figs|Eq|Eqs|Sec|Ch|Vol|pp?|ed|eds|e\.g|i\.e|a\.m|p\.m|U\.S|U\.K|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Inc|Ltd|Co|Corp|\p{Lu})\.\s*$/u

/** After these a sentence may end: it does before a capital letter. */
const MAY_END = /(?:^|\s)(?:etc|al|a\.m|p\.m|U\.S|U\.K|Inc|Ltd|Co|Corp|Jr|Sr)\.\s*$/

/** Characters before a full stop that decide whether it ends the sentence. */
const LAST_WORD = 32

const joins = (before: string, after: string): boolean =>
  /^[\p{Ll},;:)\]]/u.test(after) ||
  (ABBREVIATION.test(before) && !(MAY_END.test(before) && /^\p{Lu}/u.test(after)))

/** Closing emphasis marks after a full stop belong to the sentence before. */
const CLOSING = /^[*_]{1,3}(?=\s|$)/

function* split(source: string): Generator<readonly [start: number, end: number]> {
  let start = -1
  let end = 0
  for (const part of segmenter.segment(source)) {
    const closing = start < 0 ? 0 : (CLOSING.exec(part.segment)?.[0].length ?? 0)
    const segment = part.segment.slice(closing)
    const index = part.index + closing
    end = index
    if (segment.trim() === "") continue
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
 * The sentences of a passage in order, from Markdown, plain text or the text of a PDF, in English or Chinese. Headings, table
 * rows and lines of code are one sentence each. With a `delimiter` the passage is CSV.
 */
export const splitSentences = ({
  delimiter,
  format,
  text
}: Pick<ReaderPassage, "delimiter" | "format" | "text">): ReadonlyArray<Sentence> =>
  withColumns(delimiter === undefined ? proseOf(text, format) : delimitedRows(text, delimiter))

/**
 * The sentences, with the names of the columns in rows below one header row. Two lines of words with bars may be no table.
 */
const withColumns = (sentences: ReadonlyArray<Sentence>): ReadonlyArray<Sentence> => {
  let columns: ReadonlyArray<string> | undefined
  return sentences.map((sentence, i) => {
    const { cells, kind, text } = sentence
    if (kind === "header") columns = sentences[i - 1]?.kind === "header" ? undefined : cells
    else if (kind !== "row") columns = undefined
    if (kind !== "row" || cells === undefined || cells.length < 2 || columns?.length !== cells.length)
      return sentence
    const isTable = /\p{N}/u.test(text) || [i - 2, i + 1].some((at) => sentences[at]?.cells !== undefined)
    if (!isTable) return sentence
    const names = columns
    return {
      ...sentence,
      named: rowText(
        cells.map((cell, at) => (cell === "" || names[at] === "" ? cell : `${names[at]}: ${cell}`))
      )
    }
  })
}

const proseOf = (text: string, format: string | undefined): ReadonlyArray<Sentence> =>
  blocksOf(text).flatMap(({ end, kind, start }, block): ReadonlyArray<Sentence> => {
    const source = text.slice(start, end)
    if (kind === "row" || kind === "header") {
      const cells = readableCells(source, format)
      return [{ kind, text: rowText(cells), start, end, block, cells }]
    }
    if (kind !== "paragraph" && kind !== "item")
      return [{ kind, text: kind === "code" ? source : readable(source, format), start, end, block }]
    const entries = format === "text" && kind === "paragraph" ? findEntries(source) : undefined
    if (entries !== undefined)
      return entries.map((from, i) => {
        const piece = source.slice(from, entries[i + 1]).trimEnd()
        const at = start + from
        return { kind: "row", text: readable(piece, format), start: at, end: at + piece.length, block }
      })
    // The segmenter would end a sentence at a line break.
    return Array.from(split(source.replace(/\n/g, " ")), ([from, to]) => {
      const piece = source.slice(from, to)
      const lead = piece.length - piece.trimStart().length
      const at = start + from + lead
      return { kind, text: readable(piece, format), start: at, end: at + piece.trim().length, block }
    }).filter((sentence) => sentence.text !== "")
  })
