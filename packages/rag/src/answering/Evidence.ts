/** The sources of an answer, and the verification of its quotes: a quote must be in its source, to the letter. */
import { findQuote, isProof } from "@sluice/core/text"
import type { CitedSentence, Quoted, ReaderPassage } from "@sluice/core/models"
import type { Citation, StoredPassage } from "../document/Document.ts"
import { referencesIn } from "../formats/parsing/Mentions.ts"
import type { FigureAnswer } from "./FigureVision.ts"
import type { ReadPassages } from "./ReadingContext.ts"
import { isReferred } from "./ReferredFigures.ts"
import { locatorLabel, locatorsIn } from "../document/Locator.ts"
import { headedText, titleOf } from "../document/SearchText.ts"

/** A passage, or the vision model's answer about the figure that the passage is. */
export interface Source {
  readonly passage: StoredPassage
  /** Neighbours that are read together. The first one is `passage`. */
  readonly parts: ReadonlyArray<StoredPassage>
  readonly text: string
  readonly seen: boolean
}

/** Passages that are read as one text. A quote is of one of them. */
export const sourceOf = (...parts: ReadPassages): Source => ({
  passage: parts[0],
  parts,
  text: parts.map(({ text }) => text).join("\n\n"),
  seen: false
})

export const readerPassage = ({ passage, seen, text }: Source): ReaderPassage => {
  const { document, figure, headings } = passage
  const title = titleOf(document.title, headings)
  // Models write Markdown.
  const format = seen ? "markdown" : document.format
  if (seen || text !== passage.text || figure?.kind !== "table") return { title, text, format }
  return { title, text: headedText(passage), format }
}

/**
 * The vision model's answer about a figure, as a source.
 *
 * **Details.** The words of a generative model are a source of their own, cited as seen. Of an extractive model, only words
 * in the figure's text are used, and they are cited there.
 */
export const seenSource = (
  { answers, look, passage }: FigureAnswer,
  kind: "extractive" | "generative"
): Source | undefined => {
  if (!answers || look.said === "") return undefined
  if (kind === "generative") return { passage, parts: [passage], text: look.said, seen: true }
  const quotes = look.said.split("\n").flatMap((line) => findLine(line, passage.text) ?? [])
  return quotes.length === 0
    ? undefined
    : { passage, parts: [passage], text: [...new Set(quotes)].join("\n\n"), seen: false }
}

const wordsOf = (text: string): ReadonlyArray<string> =>
  text.toLowerCase().match(/\p{Script=Han}|[\p{L}\p{N}]+/gu) ?? []

/** The part of a text that is a line read in its picture: the same words, or the line with all of its words. */
const findLine = (line: string, text: string): string | undefined => {
  const words = wordsOf(line)
  if (words.length === 0) return undefined
  const has = (other: string): boolean => {
    const own = new Set(wordsOf(other))
    return words.every((word) => own.has(word))
  }
  return findQuote(line, text) ?? text.split("\n").find(has)?.trim()
}

/**
 * The numbered citations of a sentence. Undefined if none is left: quotes that are not found are left out, and so are those
 * that are too short to prove anything. A quote that refers to a figure among the sources ("see Fig. 3") also cites the caption of that figure.
 */
export const citationsOf = (
  sentence: CitedSentence,
  sources: ReadonlyArray<Source>,
  before: ReadonlyArray<Citation>
): ReadonlyArray<Citation> | undefined => {
  const cited: Array<Citation> = []
  let next = before.length + 1
  const quotes = sentence.evidence
    .map(({ passage, quote, quoted = "model" }) => [sources[passage], quote, quoted] as const)
    .filter(([source, quote]) => source?.passage.figure?.head?.includes(quote.trim()) !== true)
    .filter(([source, quote]) => source !== undefined && isProofIn(source, quote))
  for (const [source, quote, quoted] of [
    ...quotes,
    ...quotes.flatMap((one) => referredCaptions(one, sources))
  ]) {
    const citation = cite(source, quote, quoted, next)
    if (citation === undefined) continue
    const same = [...before, ...cited].find(
      ({ end, passageId, seen, start }) =>
        passageId === citation.passageId &&
        start === citation.start &&
        end === citation.end &&
        seen === citation.seen
    )
    if (same === undefined) next++
    if (same === undefined || !cited.includes(same)) cited.push(same ?? citation)
  }
  return cited.length > 0 && sentence.text.trim() !== "" ? cited : undefined
}

const isProofIn = (source: Source, quote: string): boolean =>
  source.text.includes(quote) && isProof(quote, source.text)

/** The figures that a quote refers to, each with its caption as it is in the figure's text. */
const referredCaptions = (
  [source, quote, quoted]: readonly [Source | undefined, string, Quoted],
  sources: ReadonlyArray<Source>
): ReadonlyArray<readonly [Source, string, Quoted]> => {
  if (source === undefined || source.passage.figure !== undefined) return []
  return [...referencesIn(quote)].flatMap((reference) => {
    const found = sources.find(
      ({ passage, seen }) =>
        !seen && passage.document.id === source.passage.document.id && isReferred(passage, reference)
    )
    const caption = found && findQuote(found.passage.figure?.caption ?? "", found.text)
    return found === undefined || caption === undefined ? [] : [[found, caption, quoted] as const]
  })
}

/** The citation of a quote, or of the figure in which it was seen. Undefined if the quote is not found. */
const cite = (source: Source | undefined, quote: string, quoted: Quoted, n: number): Citation | undefined => {
  if (source === undefined || quote.trim() === "" || !source.text.includes(quote)) return undefined
  const { parts, seen } = source
  const passage = parts.find(({ text }) => text.includes(quote)) ?? source.passage
  const at = seen ? 0 : passage.text.indexOf(quote)
  if (at < 0) return undefined
  const start = passage.start + at
  const end = seen ? start : start + quote.length
  const lines = passage.lines.filter((line) => line.start < end && start < line.end)
  const { figure } = passage
  const locator = locatorLabel(locatorsIn(passage.locators ?? [], start, end)) ?? passage.locator
  const page = lines[0]?.page ?? figure?.page ?? passage.page
  const figureBox =
    figure?.box === undefined || page === undefined ? [] : [{ page: figure.page ?? page, box: figure.box }]
  const boxes = lines.map((line) => ({ page: line.page, box: line.box }))
  return {
    n,
    document: passage.document.path,
    documentId: passage.document.id,
    title: passage.document.title,
    passageId: passage.id,
    headings: passage.headings,
    quote: seen ? "" : quote,
    quoted,
    start,
    end,
    boxes: boxes.length === 0 ? figureBox : boxes,
    ...(page === undefined ? {} : { page }),
    ...(locator === undefined ? {} : { locator }),
    ...(figure === undefined ? {} : { figure }),
    ...(seen ? { seen } : {})
  }
}
