/** The sentences of a passage as candidates for an answer, with their scores. */
import type { ReaderPassage } from "@sluice/core/models"
import type { Term } from "../text/Term.ts"
import {
  contentTerms,
  coverageOf,
  coverageOfTerms,
  ENDS_WITH_QUESTION,
  hasAllNumbers,
  headingOf,
  matchTerms
} from "./coverage.ts"
import { isAboutOther } from "./mismatch.ts"
import {
  contextOf,
  enterBlock,
  enterHeader,
  enterHeading,
  levelAt,
  matchAround,
  type Matches,
  noTerms,
  type PassageContext,
  type Position,
  type SentenceMatches,
  startOf,
  TOPIC_DECAY
} from "./passageContext.ts"
import { NUMBERED_CAPTION } from "./passages/blocks.ts"
import type { Sentence } from "./passages/Sentence.ts"
import { splitSentences } from "./passages/sentences.ts"
import { hasVerb, impliesVerb, matchesOtherTerms, withVerb } from "./passageSupport.ts"
import { distinctWords, isNumber, type Question } from "./question.ts"
import { mentionsThing } from "./references.ts"
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
const CAPTION_ASKED = 0.15
/** … otherwise captions score less, as do paragraphs without an end, such as headings in a PDF. */
const UNFINISHED = 0.2

/** True if a sentence has numbers, but not those of the question. */
const hasOtherNumbers = (
  { numbers }: Question,
  content: ReadonlySet<Term>,
  above: ReadonlySet<Term>
): boolean =>
  numbers.some((number) => !content.has(number) && !above.has(number)) && [...content].some(isNumber)

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
  if (NUMBERED_CAPTION.test(text)) return asksForPicture ? -CAPTION_ASKED : UNFINISHED
  return ENDS_SENTENCE.test(text) ? 0 : UNFINISHED
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
