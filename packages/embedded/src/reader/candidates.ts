/** The sentences of a passage as candidates for an answer, with their scores. */
import type { ReaderPassage } from "@sluice/core"
import type { Term } from "../text/Term.ts"
import {
  contentTerms,
  coverageOf,
  coverageOfTerms,
  ENDS_WITH_QUESTION,
  hasAllNumbers,
  type Heading,
  headingOf,
  matchTerms
} from "./coverage.ts"
import { requirementTest } from "./answerType.ts"
import { isAboutOther, lacksReference } from "./mismatch.ts"
import { CAPTION, TITLED_CAPTION } from "./passages/blocks.ts"
import type { Sentence } from "./passages/Sentence.ts"
import { splitSentences } from "./passages/sentences.ts"
import { hasVerb, impliesVerb, matchesOtherTerms, passageSupport, withVerb } from "./passageSupport.ts"
import { distinctWords, isNumber, type Question } from "./question.ts"
import { figuresIn, mentionsThing } from "./references.ts"
import { introducesAnswer, restatesQuestion } from "./restatements.ts"
import { ENDS_SENTENCE, type SentenceCandidate } from "./selectSentences.ts"

/** The weight of the passage's support. */
const SUPPORT = 0.3

/** The minimum coverage by the sentence itself, or by the heading above it. */
const MIN_OWN_COVERAGE = 0.2
const MIN_HEADING_COVERAGE = 0.7
/** Under a title or heading: the minimum coverage of the terms that it lacks. */
const MIN_LEFT = 0.5
/** A table row may share little, because its columns are named above it. */
const MIN_ROW_COVERAGE = 0.05

/** The weight of a term before the sentence, above it, or in the title. */
const BEFORE = 0.25
const BEFORE_PRONOUN = 0.7
const BEFORE_ROW = 0.7
/** A term of a paragraph counts for its later sentences, by this factor less with each. */
const TOPIC_DECAY = 0.85
/** A caption counts for all text in its figure, and for all rows of its table. */
const ABOVE = 0.6
const TITLE = 0.15
/** Names and identifiers in the title and the open headings count for everything below them. */
const CALLED = 0.8

const ANSWER_TYPE = 0.25
const FIRST_PASSAGE = 0.1
const OTHER_NUMBERS = 0.3
/** A row with exactly the numbers of the question. */
const SAME_NUMBERS = 0.25
/** A number of what is counted: “1800 machines” for “how many machines”. */
const COUNTS = 0.15
/** Stop words, such as “over” and “up to”, decide between sentences that are otherwise equal. */
const ALL_WORDS = 0.1
const LONG_TERMS = 40
const LONG = 0.1
const SHORT_TERMS = 3
const SHORT = 0.1

/** A caption answers a question about a picture … */
const PICTURE = /\b(?:fig(?:ure)?s?|charts?|graphs?|plots?|diagrams?|tables?)\b|[图表]/i
const CAPTION_ASKED = 0.15
/** … otherwise captions score less, as do paragraphs without an end, such as headings in a PDF. */
const UNFINISHED = 0.2

type Matches = ReadonlyArray<number>

const noTerms: ReadonlySet<Term> = new Set()

/** True if a sentence has numbers, but not those of the question. */
const hasOtherNumbers = (
  { numbers }: Question,
  content: ReadonlySet<Term>,
  above: ReadonlySet<Term>
): boolean =>
  numbers.some((number) => !content.has(number) && !above.has(number)) && [...content].some(isNumber)

/** A sentence about what the sentence before named. */
const PRONOUN = /^(?:(?:It|Its|They|Their|He|His|She|Her|This|These|Those)\b|[它他她该这])/

/**
 * True if the rarest word of what is asked for is missing; or if its verb is missing in a question of how, or together with
 * another of those words.
 */
const lacksFocus = ({ asksHow, focus, predicate, weights }: Question, matches: Matches): boolean => {
  const weightAt = (i: number): number => weights[i] ?? 0
  const missing = focus.filter((i) => matches[i] === 0)
  const heaviest = Math.max(...focus.map(weightAt))
  return (
    missing.some((i) => weightAt(i) === heaviest) ||
    ((asksHow || missing.length > 0) && predicate.length > 0 && predicate.every((i) => matches[i] === 0))
  )
}

/** True if a sentence has the terms that the title and headings above it lack, or a unit that implies the measure. */
const completesHeadings = (question: Question, own: Matches, above: Matches): boolean => {
  const left = own
    .keys()
    .filter((i) => above[i] === 0 && !(question.unitImpliesMeasure && question.measure.includes(i)))
  const indexes = [...left]
  return (
    (indexes.length > 0 || (question.unitImpliesMeasure && question.called.length > 0)) &&
    coverageOfTerms(question, indexes, own) >= MIN_LEFT
  )
}

/** The level of a Markdown heading, 1 to 6. */
const levelAt = (text: string, start: number): number =>
  /#{1,6}(?=\s{1,20}$)/.exec(text.slice(Math.max(0, start - 26), start))?.[0].length ?? 1

/** What holds for a whole passage. */
interface PassageContext {
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
interface Position {
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

const startOf = ({ path, question }: PassageContext): Position => {
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

const enterHeading = (question: Question, at: Position, text: string, level: number): void => {
  at.heading = headingOf(question, text)
  while (at.open.at(-1)!.level >= level) at.open.pop()
  at.open.push({ level, text, matches: at.heading.matches })
  at.asked = headingOf(question, "")
  at.before = at.lead = matchTerms(question, noTerms)
  at.underHeader = false
}

const enterHeader = (question: Question, at: Position, text: string, content: ReadonlySet<Term>): void => {
  at.header = at.underHeader ? at.header.union(content) : content
  at.columns = at.underHeader ? `${at.columns}\n${text}` : text
  at.before = at.lead = matchTerms(question, at.header)
  at.underHeader = true
}

const enterBlock = (question: Question, at: Position, block: number): void => {
  if (block === at.block) return
  at.topic = matchTerms(question, noTerms)
  at.earlier = ""
  if (!at.askedLasts) at.asked = headingOf(question, "")
  at.block = block
}

/** How far the terms of the question occur in a sentence and around it. */
interface SentenceMatches {
  readonly own: Matches
  /** In the title and the open headings. */
  readonly above: Matches
  /** Including headings and captions. */
  readonly apart: Matches
  /** Including the sentence before. */
  readonly around: Matches
  readonly pronoun: boolean
}

const matchAround = (
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

/** True if a sentence has what the question requires, itself or by its place. */
const meetsRequirements = (
  { captionText, path, question, required, support }: PassageContext,
  at: Position,
  { kind, text }: Sentence,
  { around, own }: SentenceMatches
): boolean =>
  required(text, `${at.columns}\n${path.at(-1) ?? ""}\n${at.asked.text}\n${captionText}`) &&
  (question.required.length === 0 ||
    question.required.some((i) => (around[i] ?? 0) > 0) ||
    (impliesVerb(question, text) && matchesOtherTerms(question, own)) ||
    (kind === "row" && support.listed && question.years.every((year) => year.test(text))))

/** True if enough of the question is in the sentence, or in the headings above it. */
const hasOwnCoverage = (
  { question }: PassageContext,
  at: Position,
  row: boolean,
  { above, around, own }: SentenceMatches
): boolean =>
  coverageOf(question, own) >= (row ? MIN_ROW_COVERAGE : MIN_OWN_COVERAGE) ||
  completesHeadings(question, own, above) ||
  ((question.unitImpliesMeasure || question.measure.every((i) => (around[i] ?? 0) > 0)) &&
    Math.max(
      coverageOf(question, at.heading.matches),
      coverageOf(question, at.asked.matches),
      at.heading.matches.some((value, i) => value > (at.open[0]!.matches[i] ?? 0))
        ? coverageOf(question, above)
        : 0
    ) >= MIN_HEADING_COVERAGE)

const isAboutQuestion = (
  context: PassageContext,
  at: Position,
  sentence: Sentence,
  matches: SentenceMatches,
  sameNumbers: boolean
): boolean => {
  const { captionText, figures, path, question, support } = context
  const { apart, around, pronoun } = matches
  const above = [
    at.columns,
    captionText,
    at.asked.text,
    at.heading.text,
    ...at.open.toReversed().map(({ text }) => text),
    ...path.toReversed()
  ]
  return (
    meetsRequirements(context, at, sentence, matches) &&
    hasVerb(question, support.whole, sentence.kind === "paragraph" && !pronoun ? apart : around) &&
    !isAboutOther(question, figures, sentence.text, at.earlier, above) &&
    (support.listed || !lacksFocus(question, around)) &&
    // A number alone, such as a year, is found everywhere.
    (question.subject.length === 0 || question.subject.some((i) => (around[i] ?? 0) > 0)) &&
    (sameNumbers || hasOwnCoverage(context, at, sentence.kind === "row", matches))
  )
}

const scoreOf = (
  { asksForPicture, captions, isOfType, passage, question, support }: PassageContext,
  at: Position,
  { kind, text }: Sentence,
  content: ReadonlySet<Term>,
  coverage: number,
  sameNumbers: boolean
): number => {
  const row = kind === "row"
  const size = [...content].filter(({ kind }) => kind !== "pair").length
  return (
    coverage +
    SUPPORT * support.support +
    (isOfType?.(text) ? ANSWER_TYPE : 0) +
    FIRST_PASSAGE / (passage + 1) +
    (sameNumbers ? SAME_NUMBERS : 0) +
    (question.counts?.test(text) === true ? COUNTS : 0) +
    ALL_WORDS * sharedWords(question.words, text) -
    (hasOtherNumbers(question, content, row ? at.header.union(captions) : noTerms) ? OTHER_NUMBERS : 0) -
    (kind === "paragraph" ? incompletePenalty(text, asksForPicture) : 0) -
    (size > LONG_TERMS ? LONG : size < SHORT_TERMS && !row ? SHORT : 0)
  )
}

/** The share of the question's words that a sentence has. */
const sharedWords = (words: ReadonlySet<string>, sentence: string): number =>
  words.size === 0 ? 0 : words.intersection(distinctWords(sentence)).size / words.size

const incompletePenalty = (text: string, asksForPicture: boolean): number => {
  if (CAPTION.test(text)) return asksForPicture ? -CAPTION_ASKED : UNFINISHED
  return ENDS_SENTENCE.test(text) ? 0 : UNFINISHED
}

const contextOf = (
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

/** The sentences of a passage that may answer a question. `isOfType` tests for the kind of answer that it asks for. */
export const findCandidates = (
  question: Question,
  isOfType: ((sentence: string) => boolean) | undefined,
  read: ReaderPassage,
  passage: number
): ReadonlyArray<SentenceCandidate> => {
  const sentences = splitSentences(read)
  const context = contextOf(question, isOfType, read, passage, sentences)
  if (context === undefined) return []
  const at = startOf(context)
  const blocks = Map.groupBy(sentences, ({ block }) => block)
  return sentences.flatMap((sentence) => {
    if (!/[\p{L}\p{N}]/u.test(sentence.text)) return []
    const size = blocks.get(sentence.block)?.length ?? 0
    return advance(context, at, sentence, size, read.text)
  })
}

/** Moves on to a sentence. Gives its candidate, unless it only introduces others. `blockSize` is in sentences. */
const advance = (
  context: PassageContext,
  at: Position,
  sentence: Sentence,
  blockSize: number,
  source: string
): ReadonlyArray<SentenceCandidate> => {
  const { passage, question, support } = context
  const { block, kind, text } = sentence
  const content = contentTerms(text)
  if (kind === "heading") {
    enterHeading(question, at, text, levelAt(source, sentence.start))
    return []
  }
  if (kind === "header") {
    enterHeader(question, at, text, content)
    return []
  }
  enterBlock(question, at, block)
  const plain = matchTerms(question, content)
  const own = support.said && impliesVerb(question, text) ? withVerb(question, plain) : plain
  // A question, or a sentence that only repeats the user's, answers nothing. The text after it may.
  const asks = (kind === "paragraph" || kind === "item") && ENDS_WITH_QUESTION.test(text)
  if (asks || restatesQuestion(question, content, sentence)) {
    if (asks || introducesAnswer(question, sentence)) {
      at.asked = headingOf(question, text)
      at.askedLasts = kind === "paragraph" && blockSize === 1
    }
    at.before = own
    return []
  }
  const matches = matchAround(context, at, sentence, own)
  const coverage = coverageOf(question, matches.around)
  const sameNumbers = kind === "row" && hasAllNumbers(question, `${text}\n${at.columns}`)
  const candidate: SentenceCandidate = {
    passage,
    sentence,
    content,
    about: isAboutQuestion(context, at, sentence, matches, sameNumbers),
    coverage,
    support: support.support,
    score: scoreOf(context, at, sentence, content, coverage, sameNumbers)
  }
  if (question.numbered.some((thing) => mentionsThing(thing, text) !== undefined)) at.earlier = text
  at.before = own
  at.topic = own.map((value, i) => Math.max(value, TOPIC_DECAY * (at.topic[i] ?? 0)))
  if (kind === "paragraph") {
    at.lead = own
    at.underHeader = false
  }
  return [candidate]
}
