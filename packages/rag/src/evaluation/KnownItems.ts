/**
 * Questions that a collection asks itself: the name of a section or of a figure, whose answer is that section or figure.
 *
 * A question whose words stand in what is indexed of its answer would be found by any search. So what the question was
 * made from is held out: the heading or the caption is taken out of the document before it is indexed for the question.
 */
import type { Figure, Parsed, Span } from "../document/Document.ts"

/** A question, where its answer stands, and what must not be indexed when it is asked. */
export interface KnownItem {
  readonly question: string
  readonly from: "heading" | "caption"
  readonly answer: Span
  readonly held: Span
}

/** Fewer words say nothing: “Introduction”, “Results”. Han characters count one by one, so more of them are due. */
const LEAST_WORDS = 2
const LEAST_HAN = 4
/** A section with less text than this has no answer worth finding. */
const LEAST_ANSWER = 120
/** Of a figure without its caption: what is written in it, or said of it. */
const LEAST_INSIDE = 20
const LONGEST_QUESTION = 200

/** `3.2`, `IV.`, `Chapter 2:`, `第3章`: what stands before a heading's words. */
const NUMBERING =
  /^\s*(?:(?:chapter|section|appendix|part)\s+[\dA-Z]+|第[\d一二三四五六七八九十]+[章节節]|[\dA-Z]{1,3}(?:\.\d+)+|\d+|[IVX]+(?=\.))[.:)：、]?\s+/iu

/** `Figure 3:`, `Table II.`, `图 3`: what stands before a caption's words. */
const LABEL =
  /^\s*(?:figure|fig|table|tab|图|圖|表)\.?\s*[A-Z]?[\divxlc]+(?:[.-][\dA-Za-z]+)*\s*[.:：、—–-]?\s*/iu

const words = (text: string): number => text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0
const han = (text: string): number => text.match(/\p{Script=Han}/gu)?.length ?? 0

const saysSomething = (question: string): boolean =>
  han(question) > 0 ? han(question) >= LEAST_HAN : words(question) >= LEAST_WORDS

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim()

/** The same question asked twice has two answers: compared without case, signs and spaces. */
export const questionKey = (question: string): string =>
  question
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim()

const firstSentence = (text: string): string => {
  const end = /[.。!?！？](?=\s|$)|[。！？]/u.exec(text.slice(20))
  const sentence = end === null ? text : text.slice(0, 20 + end.index)
  return sentence.length <= LONGEST_QUESTION
    ? sentence
    : sentence.slice(0, LONGEST_QUESTION).replace(/\s+\S*$/, "")
}

/**
 * Sections with a name of their own and enough text directly below it: what stands below their subheadings has other
 * names. The title of the document names no section.
 */
const fromHeadings = ({ blocks, title }: Parsed): ReadonlyArray<KnownItem> =>
  blocks.flatMap(({ end, heading, kind, start }, i): ReadonlyArray<KnownItem> => {
    if (kind !== "heading" || heading === undefined) return []
    const question = oneLine(heading.replace(NUMBERING, ""))
    if (!saysSomething(question) || questionKey(heading) === questionKey(title)) return []
    const next = blocks.findIndex((block, at) => at > i && block.kind === "heading")
    const below = blocks.slice(i + 1, next < 0 ? blocks.length : next)
    const first = below[0]
    const last = below.at(-1)
    const characters = below.reduce((sum, block) => sum + block.end - block.start, 0)
    if (first === undefined || last === undefined || characters < LEAST_ANSWER) return []
    return [
      {
        question,
        from: "heading",
        answer: { start: first.start, end: last.end },
        held: { start, end }
      }
    ]
  })

/** Figures that say something besides their caption: what is written in them, or a paragraph that refers to them. */
const fromCaptions = ({ figures, text }: Parsed): ReadonlyArray<KnownItem> =>
  figures.flatMap(({ caption, end, mentions, start }): ReadonlyArray<KnownItem> => {
    if (caption === undefined) return []
    const question = firstSentence(oneLine(text.slice(caption.start, caption.end)).replace(LABEL, ""))
    const inside = oneLine(text.slice(start, caption.start) + text.slice(caption.end, end))
    if (!saysSomething(question) || (inside.length < LEAST_INSIDE && mentions.length === 0)) return []
    return [{ question, from: "caption", answer: { start, end }, held: caption }]
  })

/** All questions that a document can be asked in its own words. */
export const knownItems = (parsed: Parsed): ReadonlyArray<KnownItem> => [
  ...fromHeadings(parsed),
  ...fromCaptions(parsed)
]

/** The document without what some questions were made from. Every offset stays: blanks stand where the words stood. */
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
