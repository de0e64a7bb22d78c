/** The sentences of passages that answer a question. */
import type { CitedSentence, ReaderPassage } from "@sluice/core"
import { aboveOf, ASKS } from "./above.ts"
import { isOfAnother, lacksTheOne } from "./another.ts"
import { answerTypeOf, requiredOf } from "./answerType.ts"
import { CAPTION, TITLED } from "./passages/blocks.ts"
import { type Candidate, choose, FINISHED } from "./choose.ts"
import { picturesIn } from "./pictures.ts"
import { contentOf, covered, hasNumbers, presence, shareOf } from "./presence.ts"
import { doesSo, heldBy, saysTheRest, standsIn, withVerb } from "./held.ts"
import { names } from "./numbered.ts"
import { isNumber, type Question, questionOf, wordsOf } from "./question.ts"
import { leads, repeats } from "./repeats.ts"
import { sentencesOf } from "./passages/sentences.ts"
import { limitVocabulary, type Term } from "../text/Term.ts"

export { MAX_SENTENCES } from "./choose.ts"

/** A better supported passage is the likelier place. */
const SUPPORT = 0.3

/** So much of it in the sentence itself, or so much more in the heading above it. */
const MIN_OWN_COVERAGE = 0.2
const MIN_HEADING_COVERAGE = 0.7
/** Under a title or heading that has the rest, so much of what that leaves. */
const MIN_LEFT = 0.5
/** A row of a table may share little by itself: what its columns are stands above it. */
const MIN_ROW_COVERAGE = 0.05

/** What a term counts that stands not in the sentence but before it, above it, or in the title. */
const BEFORE = 0.25
const BEFORE_PRONOUN = 0.7
const BEFORE_ROW = 0.7
/** What a paragraph has named lasts for its later sentences, less with each. */
const TOPIC_LASTS = 0.85
/** What a caption says holds for all that is written in its figure, and for all rows of its table. */
const ABOVE = 0.6
const TITLE = 0.15
/** What the title and the open headings call a thing by, holds for all that stands below them. */
const CALLED = 0.8

const ANSWER_TYPE = 0.25
const FIRST_PASSAGE = 0.1
const OTHER_NUMBERS = 0.3
/** A row that has the very numbers of the question is the one that was asked for. */
const SAME_NUMBERS = 0.25
/** “1800 machines” is how many machines. */
const COUNTS = 0.15
/** Words that say little, such as “over” and “up to”, decide between sentences that are otherwise alike. */
const ALL_WORDS = 0.1
const LONG_TERMS = 40
const LONG = 0.1
const SHORT_TERMS = 3
const SHORT = 0.1

/** A question about a picture is answered by its caption … */
const PICTURE = /\b(?:fig(?:ure)?s?|charts?|graphs?|plots?|diagrams?|tables?)\b|[图表]/i
const CAPTION_ASKED = 0.15
/** … otherwise captions, and headings that a PDF does not tell from text (pieces of a paragraph without an end), say less. */
const UNFINISHED = 0.2

/** Whether a sentence has numbers, and not those of the question. */
const hasOtherNumbers = (
  { numbers }: Question,
  content: ReadonlySet<Term>,
  above: ReadonlySet<Term>
): boolean =>
  numbers.some((number) => !content.has(number) && !above.has(number)) && [...content].some(isNumber)

/** A sentence that speaks of what the sentence before named. */
const PRONOUN = /^(?:(?:It|Its|They|Their|He|His|She|Her|This|These|Those)\b|[它他她该这])/

/**
 * Whether the most telling word of what is asked for stands nowhere; or its verb does not, where it asks how, or where
 * another of those words is missing too.
 */
const isUnsaid = (
  { asksHow, focus, predicate, weights }: Question,
  presences: ReadonlyArray<number>
): boolean => {
  const weightAt = (i: number): number => weights[i] ?? 0
  const missing = focus.filter((i) => presences[i] === 0)
  const heaviest = Math.max(...focus.map(weightAt))
  return (
    missing.some((i) => weightAt(i) === heaviest) ||
    ((asksHow || missing.length > 0) && predicate.length > 0 && predicate.every((i) => presences[i] === 0))
  )
}

/** Whether a sentence says what of the question the title and the headings above it leave, or has the unit that does. */
const saysWhatIsLeft = (
  question: Question,
  own: ReadonlyArray<number>,
  standing: ReadonlyArray<number>
): boolean => {
  const left = own
    .keys()
    .filter((i) => standing[i] === 0 && !(question.toldByUnit && question.measure.includes(i)))
  const places = [...left]
  return (
    (places.length > 0 || (question.toldByUnit && question.called.length > 0)) &&
    shareOf(question, places, own) >= MIN_LEFT
  )
}

const nothing: ReadonlySet<Term> = new Set()

/** How deep a heading is, by its marks. */
const levelAt = (text: string, start: number): number =>
  /#{1,6}(?=\s{1,20}$)/.exec(text.slice(Math.max(0, start - 26), start))?.[0].length ?? 1

const candidatesOf = (
  question: Question,
  isOfType: ((sentence: string) => boolean) | undefined,
  read: ReaderPassage,
  passage: number
): ReadonlyArray<Candidate> => {
  const { text, title } = read
  // A text of one line is its own title, and does not stand above itself
  const path = title === text.trim() ? [""] : title.split(" > ")
  const required = requiredOf(question.text)
  const pictures = picturesIn(question.text)
  if (lacksTheOne(question, pictures, read)) return []
  const sentences = sentencesOf(read)
  const held = heldBy(question, read, sentences)
  if (held === undefined) return []
  const { listed, said, support, whole } = held
  const captioned = new Set(
    sentences.flatMap(({ block, kind, text }) => (kind === "paragraph" && TITLED.test(text) ? [block] : []))
  )
  const captionText = sentences.flatMap(({ block, text }) => (captioned.has(block) ? [text] : [])).join("\n")
  const captions = contentOf(captionText)
  const inCaption = presence(question, captions)
  const asksForPicture = PICTURE.test(question.text)
  let header = nothing
  let columns = ""
  const called = [
    { level: 0, text: "", says: presence(question, contentOf([path[0], ...path.slice(1, -1)].join("\n"))) }
  ]
  const none = aboveOf(question, "")
  const sizes = Map.groupBy(sentences, ({ block }) => block)
  let heading = aboveOf(question, path.at(-1) ?? "")
  /** The question of the text that a sentence stands under, and whether that goes on after its block. */
  let asked = none
  let lasts = false
  let before = presence(question, nothing)
  let lead = before
  let topic = before
  let block = -1
  /** The sentence of its block that last named a thing by a number. */
  let earlier = ""
  let underHeader = false
  const candidates: Array<Candidate> = []
  for (const sentence of sentences) {
    if (!/[\p{L}\p{N}]/u.test(sentence.text)) continue
    const content = contentOf(sentence.text)
    const plain = presence(question, content)
    const own = said && standsIn(question, sentence.text) ? withVerb(question, plain) : plain
    if (sentence.kind === "heading") {
      heading = aboveOf(question, sentence.text)
      const level = levelAt(text, sentence.start)
      while (called.at(-1)!.level >= level) called.pop()
      called.push({ level, text: sentence.text, says: heading.said })
      asked = none
      before = lead = presence(question, nothing)
      underHeader = false
      continue
    }
    if (sentence.kind === "header") {
      header = underHeader ? header.union(content) : content
      columns = underHeader ? `${columns}\n${sentence.text}` : sentence.text
      before = lead = presence(question, header)
      underHeader = true
      continue
    }
    if (sentence.block !== block) {
      topic = presence(question, nothing)
      earlier = ""
    }
    if (sentence.block !== block && !lasts) asked = none
    block = sentence.block
    const isText = sentence.kind === "paragraph" || sentence.kind === "item"
    // A question, or a sentence that only repeats the one that is asked, answers nothing; the text after it may
    const asks = isText && ASKS.test(sentence.text)
    if (asks || repeats(question, content, sentence)) {
      if (asks || leads(question, sentence)) {
        asked = aboveOf(question, sentence.text)
        lasts = sentence.kind === "paragraph" && sizes.get(block)?.length === 1
      }
      before = own
      continue
    }
    // Items of a list and rows of a table go with what leads to them, not with each other.
    const pronoun = PRONOUN.test(sentence.text)
    const above = pronoun ? before.map((value, i) => Math.max(value, topic[i] ?? 0)) : before
    const context = sentence.kind === "paragraph" ? above : lead
    // The header says what the cells of each row are.
    const row = sentence.kind === "row"
    const weight = row && underHeader ? BEFORE_ROW : pronoun ? BEFORE_PRONOUN : BEFORE
    const standing = own.map((_, i) => Math.max(...called.map(({ says }) => says[i] ?? 0)))
    const apart = own.map((value, i) =>
      Math.max(
        value,
        ABOVE * (inCaption[i] ?? 0),
        heading.counts[i] ?? 0,
        asked.counts[i] ?? 0,
        question.called.includes(i) ? CALLED * (standing[i] ?? 0) : 0,
        TITLE * (standing[i] ?? 0)
      )
    )
    const around = apart.map((value, i) => Math.max(value, weight * (context[i] ?? 0)))
    const does = sentence.kind === "paragraph" && !pronoun ? apart : around
    const standsAbove = [
      columns,
      captionText,
      asked.text,
      heading.text,
      ...called.toReversed().map(({ text }) => text),
      ...path.toReversed()
    ]
    const size = [...content].filter(({ kind }) => kind !== "pair").length
    const coverage = covered(question, around)
    const sameNumbers = row && hasNumbers(question, `${sentence.text}\n${columns}`)
    candidates.push({
      passage,
      sentence,
      content,
      // A number alone, such as a year, is found everywhere.
      about:
        required(sentence.text, `${columns}\n${path.at(-1) ?? ""}\n${asked.text}\n${captionText}`) &&
        (question.required.length === 0 ||
          question.required.some((i) => (around[i] ?? 0) > 0) ||
          (standsIn(question, sentence.text) && saysTheRest(question, own)) ||
          (row && listed && question.years.every((year) => year.test(sentence.text)))) &&
        doesSo(question, whole, does) &&
        !isOfAnother(question, pictures, sentence.text, earlier, standsAbove) &&
        (listed || !isUnsaid(question, around)) &&
        (question.subject.length === 0 || question.subject.some((i) => (around[i] ?? 0) > 0)) &&
        (sameNumbers ||
          covered(question, own) >= (row ? MIN_ROW_COVERAGE : MIN_OWN_COVERAGE) ||
          saysWhatIsLeft(question, own, standing) ||
          ((question.toldByUnit || question.measure.every((i) => (around[i] ?? 0) > 0)) &&
            Math.max(
              covered(question, heading.said),
              covered(question, asked.said),
              heading.said.some((value, i) => value > (called[0]!.says[i] ?? 0))
                ? covered(question, standing)
                : 0
            ) >= MIN_HEADING_COVERAGE)),
      coverage,
      support,
      score:
        coverage +
        SUPPORT * support +
        (isOfType?.(sentence.text) ? ANSWER_TYPE : 0) +
        FIRST_PASSAGE / (passage + 1) +
        (sameNumbers ? SAME_NUMBERS : 0) +
        (question.counts?.test(sentence.text) === true ? COUNTS : 0) +
        ALL_WORDS * sharedWords(question.words, sentence.text) -
        (hasOtherNumbers(question, content, row ? header.union(captions) : nothing) ? OTHER_NUMBERS : 0) -
        (sentence.kind === "paragraph" ? unfinished(sentence.text, asksForPicture) : 0) -
        (size > LONG_TERMS ? LONG : size < SHORT_TERMS && !row ? SHORT : 0)
    })
    if (question.numbered.some((thing) => names(thing, sentence.text) !== undefined)) earlier = sentence.text
    before = own
    topic = own.map((value, i) => Math.max(value, TOPIC_LASTS * (topic[i] ?? 0)))
    if (sentence.kind === "paragraph") {
      lead = own
      underHeader = false
    }
  }
  return candidates
}

/** The share of all words of a question that stand in a sentence. */
const sharedWords = (words: ReadonlySet<string>, sentence: string): number =>
  words.size === 0 ? 0 : words.intersection(wordsOf(sentence)).size / words.size

const unfinished = (text: string, asksForPicture: boolean): number => {
  if (CAPTION.test(text)) return asksForPicture ? -CAPTION_ASKED : UNFINISHED
  return FINISHED.test(text) ? 0 : UNFINISHED
}

/**
 * The sentences that answer a question, at most three: the best first, the others in the order in which they stand.
 * None when too little of the question is found.
 *
 * **Details.** A sentence scores by the share of the question's terms, weighed by their rarity, that stand in it, less
 * for terms in the sentence before, the heading or the title; and by holding what is asked for (a time, a number, a
 * person, a place, a reason). Each comes with its source, to the letter.
 *
 * **Gotchas.** It compares words. A question that shares them and asks something that the passages do not say is
 * answered all the same.
 */
export const readSentences = (
  question: string,
  passages: ReadonlyArray<ReaderPassage>
): ReadonlyArray<CitedSentence> => {
  limitVocabulary()
  const asked = questionOf(question)
  const isOfType = answerTypeOf(question)
  const candidates = passages.flatMap((passage, index) => candidatesOf(asked, isOfType, passage, index))
  return choose(asked, candidates).map(({ passage, sentence }) => ({
    text: sentence.text,
    evidence: [{ passage, quote: passages[passage]?.text.slice(sentence.start, sentence.end) ?? "" }]
  }))
}
