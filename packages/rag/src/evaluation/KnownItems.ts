/**
 * Questions made from a document: the heading of a section or the caption of a figure, answered by that section or figure.
 *
 * The heading or caption is removed from the document before it is indexed. Otherwise any search would find the answer by
 * the question's own words.
 */
import type { Figure, Parsed, Span } from "../document/Document.ts"

/** A question, the span of its answer, and the span that must not be indexed. */
export interface KnownItem {
  readonly question: string
  readonly from: "heading" | "caption"
  readonly answer: Span
  readonly held: Span
}

/** Questions with fewer words, such as "Results", are too general. */
const MIN_WORDS = 2
const MIN_HAN_CHARACTERS = 4
/** Characters. Shorter sections are not worth finding. */
const MIN_SECTION = 120
/** Characters in a figure besides its caption. */
const MIN_FIGURE_TEXT = 20
const MAX_QUESTION = 200

/** The number of a heading: `3.2`, `IV.`, `Chapter 2:`, `第3章`. */
const NUMBERING =
  /^\s*(?:(?:chapter|section|appendix|part)\s+[\dA-Z]+|第[\d一二三四五六七八九十]+[章节節]|[\dA-Z]{1,3}(?:\.\d+)+|\d+|[IVX]+(?=\.))[.:)：、]?\s+/iu

/** The label of a caption: `Figure 3:`, `Table II.`, `图 3`. */
const LABEL =
  /^\s*(?:figure|fig|table|tab|图|圖|表)\.?\s*[A-Z]?[\divxlc]+(?:[.-][\dA-Za-z]+)*\s*[.:：、—–-]?\s*/iu

const words = (text: string): number => text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0
const han = (text: string): number => text.match(/\p{Script=Han}/gu)?.length ?? 0

const isSpecific = (question: string): boolean =>
  han(question) > 0 ? han(question) >= MIN_HAN_CHARACTERS : words(question) >= MIN_WORDS

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim()

/** A key for equal questions: without case, punctuation and white space. */
export const questionKey = (question: string): string =>
  question
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim()

const firstSentence = (text: string): string => {
  const end = /[.。!?！？](?=\s|$)|[。！？]/u.exec(text.slice(20))
  const sentence = end === null ? text : text.slice(0, 20 + end.index)
  return sentence.length <= MAX_QUESTION
    ? sentence
    : sentence.slice(0, MAX_QUESTION).replace(/(?<!\s)\s+\S*$/, "")
}

/** Sections with a specific heading and enough text before the next heading. The document's title is not used. */
const fromHeadings = ({ blocks, title }: Parsed): ReadonlyArray<KnownItem> =>
  blocks.flatMap(({ end, heading, kind, start }, i): ReadonlyArray<KnownItem> => {
    if (kind !== "heading" || heading === undefined) return []
    const question = oneLine(heading.replace(NUMBERING, ""))
    if (!isSpecific(question) || questionKey(heading) === questionKey(title)) return []
    const next = blocks.findIndex((block, at) => at > i && block.kind === "heading")
    const section = blocks.slice(i + 1, next < 0 ? blocks.length : next)
    const first = section[0]
    const last = section.at(-1)
    const characters = section.reduce((sum, block) => sum + block.end - block.start, 0)
    if (first === undefined || last === undefined || characters < MIN_SECTION) return []
    const answer = { start: first.start, end: last.end }
    return [{ question, from: "heading", answer, held: { start, end } }]
  })

/** Figures with text besides their caption, or with a paragraph that refers to them. */
const fromCaptions = ({ figures, text }: Parsed): ReadonlyArray<KnownItem> =>
  figures.flatMap(({ caption, end, mentions, start }): ReadonlyArray<KnownItem> => {
    if (caption === undefined) return []
    const question = firstSentence(oneLine(text.slice(caption.start, caption.end)).replace(LABEL, ""))
    const inside = oneLine(text.slice(start, caption.start) + text.slice(caption.end, end))
    if (!isSpecific(question) || (inside.length < MIN_FIGURE_TEXT && mentions.length === 0)) return []
    return [{ question, from: "caption", answer: { start, end }, held: caption }]
  })

/** All questions that can be made from a document. */
export const knownItems = (parsed: Parsed): ReadonlyArray<KnownItem> => [
  ...fromHeadings(parsed),
  ...fromCaptions(parsed)
]

/** Replaces the headings and captions of some questions by spaces, so that all offsets stay valid. */
export const holdOut = (parsed: Parsed, items: ReadonlyArray<KnownItem>): Parsed => {
  let text = parsed.text
  for (const { held } of items)
    text =
      text.slice(0, held.start) +
      text.slice(held.start, held.end).replaceAll(/\S/g, " ") +
      text.slice(held.end)
  const held = new Set(items.map(({ held }) => held.start))
  return {
    ...parsed,
    text,
    blocks: parsed.blocks.map((block) =>
      block.kind === "heading" && held.has(block.start) ? { ...block, heading: "" } : block
    ),
    figures: parsed.figures.map((figure): Figure => {
      const { caption, ...rest } = figure
      return caption !== undefined && held.has(caption.start) ? rest : figure
    })
  }
}
