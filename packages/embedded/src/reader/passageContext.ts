/** Where a sentence stands in its passage: the headings, captions and sentences around it. */
import type { ReaderPassage } from "@sluice/core/models"
import type { Term } from "../text/Term.ts"
import { requirementTest } from "./answerType.ts"
import { contentTerms, type Heading, headingOf, matchTerms } from "./coverage.ts"
import { lacksReference } from "./mismatch.ts"
import { TITLED_CAPTION } from "./passages/blocks.ts"
import type { Sentence } from "./passages/Sentence.ts"
import { passageSupport } from "./passageSupport.ts"
import type { Question } from "./question.ts"
import { figuresIn } from "./references.ts"

/** The weight of a term before the sentence, above it, or in the title. */
const BEFORE = 0.25
const BEFORE_PRONOUN = 0.7
const BEFORE_ROW = 0.7
/** A term of a paragraph counts for its later sentences, by this factor less with each. */
export const TOPIC_DECAY = 0.85
/** A caption counts for all text in its figure, and for all rows of its table. */
const ABOVE = 0.6
const TITLE = 0.15
/** Names and identifiers in the title and the open headings count for everything below them. */
const CALLED = 0.8

const PICTURE = /\b(?:fig(?:ure)?s?|charts?|graphs?|plots?|diagrams?|tables?)\b|[图表]/i
/** How well each term of the question matches, 0 to 1. */
export type Matches = ReadonlyArray<number>

export const noTerms: ReadonlySet<Term> = new Set()

/** A sentence about what the sentence before named. */
const PRONOUN = /^(?:(?:It|Its|They|Their|He|His|She|Her|This|These|Those)\b|[它他她该这])/

/** The level of a Markdown heading, 1 to 6. */
export const levelAt = (text: string, start: number): number =>
  /#{1,6}(?=\s{1,20}$)/.exec(text.slice(Math.max(0, start - 26), start))?.[0].length ?? 1

/** What holds for a whole passage. */
export interface PassageContext {
  readonly question: Question
  readonly isOfType: ((sentence: string) => boolean) | undefined
  readonly required: ReturnType<typeof requirementTest>
  readonly figures: ReadonlySet<string>
  readonly support: NonNullable<ReturnType<typeof passageSupport>>
  readonly path: ReadonlyArray<string>
  readonly captionText: string
  readonly captions: ReadonlySet<Term>
  readonly inCaption: Matches
  readonly asksForPicture: boolean
  readonly passage: number
}

interface OpenHeading {
  readonly level: number
  readonly text: string
  readonly matches: Matches
}

/** What stands before and above the present sentence. */
export interface Position {
  /** The header rows of the present table. */
  header: ReadonlySet<Term>
  columns: string
  underHeader: boolean
  /** The title and the open headings, outermost first. */
  open: Array<OpenHeading>
  heading: Heading
  /** A question in the text that the sentence follows, and whether it also holds for the next block. */
  asked: Heading
  askedLasts: boolean
  /** The matches of the sentence before, of the paragraph that leads to a list or table, and of the paragraph so far. */
  before: Matches
  lead: Matches
  topic: Matches
  block: number
  /** The last sentence of the block that names a thing by a number. */
  earlier: string
}

export const startOf = ({ path, question }: PassageContext): Position => {
  const nothing = matchTerms(question, noTerms)
  const matches = matchTerms(question, contentTerms([path[0], ...path.slice(1, -1)].join("\n")))
  return {
    header: noTerms,
    columns: "",
    underHeader: false,
    open: [{ level: 0, text: "", matches }],
    heading: headingOf(question, path.at(-1) ?? ""),
    asked: headingOf(question, ""),
    askedLasts: false,
    before: nothing,
    lead: nothing,
    topic: nothing,
    block: -1,
    earlier: ""
  }
}

export const enterHeading = (question: Question, at: Position, text: string, level: number): void => {
  at.heading = headingOf(question, text)
  while (at.open.at(-1)!.level >= level) at.open.pop()
  at.open.push({ level, text, matches: at.heading.matches })
  at.asked = headingOf(question, "")
  at.before = at.lead = matchTerms(question, noTerms)
  at.underHeader = false
}

export const enterHeader = (
  question: Question,
  at: Position,
  text: string,
  content: ReadonlySet<Term>
): void => {
  at.header = at.underHeader ? at.header.union(content) : content
  at.columns = at.underHeader ? `${at.columns}\n${text}` : text
  at.before = at.lead = matchTerms(question, at.header)
  at.underHeader = true
}

export const enterBlock = (question: Question, at: Position, block: number): void => {
  if (block === at.block) return
  at.topic = matchTerms(question, noTerms)
  at.earlier = ""
  if (!at.askedLasts) at.asked = headingOf(question, "")
  at.block = block
}

/** How far the terms of the question occur in a sentence and around it. */
export interface SentenceMatches {
  readonly own: Matches
  /** In the title and the open headings. */
  readonly above: Matches
  /** Including headings and captions. */
  readonly apart: Matches
  /** Including the sentence before. */
  readonly around: Matches
  readonly pronoun: boolean
}

export const matchAround = (
  { inCaption, question }: PassageContext,
  at: Position,
  { kind, text }: Sentence,
  own: Matches
): SentenceMatches => {
  // Items of a list and rows of a table follow their lead, not each other.
  const pronoun = PRONOUN.test(text)
  const before = pronoun ? at.before.map((value, i) => Math.max(value, at.topic[i] ?? 0)) : at.before
  const context = kind === "paragraph" ? before : at.lead
  // The header names the cells of each row.
  const weight = kind === "row" && at.underHeader ? BEFORE_ROW : pronoun ? BEFORE_PRONOUN : BEFORE
  const above = own.map((_, i) => Math.max(...at.open.map(({ matches }) => matches[i] ?? 0)))
  const apart = own.map((value, i) =>
    Math.max(
      value,
      ABOVE * (inCaption[i] ?? 0),
      at.heading.counts[i] ?? 0,
      at.asked.counts[i] ?? 0,
      question.called.includes(i) ? CALLED * (above[i] ?? 0) : 0,
      TITLE * (above[i] ?? 0)
    )
  )
  const around = apart.map((value, i) => Math.max(value, weight * (context[i] ?? 0)))
  return { own, above, apart, around, pronoun }
}

export const contextOf = (
  question: Question,
  isOfType: PassageContext["isOfType"],
  read: ReaderPassage,
  passage: number,
  sentences: ReadonlyArray<Sentence>
): PassageContext | undefined => {
  const { text, title } = read
  const figures = figuresIn(question.text)
  if (lacksReference(question, figures, read)) return undefined
  const support = passageSupport(question, read, sentences)
  if (support === undefined) return undefined
  const captioned = new Set(
    sentences.flatMap(({ block, kind, text }) =>
      kind === "paragraph" && TITLED_CAPTION.test(text) ? [block] : []
    )
  )
  const captionText = sentences.flatMap(({ block, text }) => (captioned.has(block) ? [text] : [])).join("\n")
  const captions = contentTerms(captionText)
  return {
    question,
    isOfType,
    required: requirementTest(question.text),
    figures,
    support,
    // A text of one line is its own title, and is not above itself.
    path: title === text.trim() ? [""] : title.split(" > "),
    captionText,
    captions,
    inCaption: matchTerms(question, captions),
    asksForPicture: PICTURE.test(question.text),
    passage
  }
}
