/** The sentences of passages as candidates for an answer, with features that a model weighs. */
import type { ReaderPassage } from "@sluice/core/models"
import { type Sentence, splitSentences, withoutFunctionWords } from "@sluice/core/text"
import type { Term } from "../text/Term.ts"
import { ANSWER_KINDS, DEFINED, EXPECTED } from "./answerKinds.ts"
import { best, coverage, hasOpposite, matchesOf, NOTHING, type TermMatches, topicTerms } from "./coverage.ts"
import { allWordsOf, type AskedQuestion } from "./AskedQuestion.ts"
import { NO_NUMBERS, type Numbers, numberedIn, sameThings } from "./numbers.ts"

export interface WeightedSentence {
  readonly passage: number
  readonly sentence: Sentence
  readonly content: ReadonlySet<Term>
  /** By name; 0 if absent. Most are from 0 to 1. */
  readonly features: Map<string, number>
}

type Features = Iterable<readonly [string, number]>

const CAPTION = /^(?:Table|Figure|Fig\.|Abb|Tab)\.?\s*[\p{L}\d.-]{0,20}\d|^[图表]\s*\d/u
/** A sentence about what the one before named. */
const PRONOUN =
  /^(?:It|Its|They|Their|He|His|She|Her|This|These|Those|Er|Sie|Es|Dies\w*|Il|Elle|Ils|Elles|Ce|Cette|Este|Esta|Esto)(?!\p{L})|^[它他她该这此其]/u
const LABEL = /^[^:：|]{1,40}(?=[:：])/u

/** How much a term counts for a sentence if it stands … */
const UNDER = { heading: 0.6, title: 0.5, question: 0.8, header: 0.8, caption: 0.6 }
const AFTER = 0.5
/** A term of a paragraph counts for its later sentences, by this factor less with each. */
const TOPIC_DECAY = 0.85

/** That are shown with what leads to them. */
const MAX_ITEMS = 8

/** Similar enough to be the word. */
const IS_MATCHED = 0.35

/** In terms. */
const BEGINNING = 4
const LONG = 40
const SHORT = 4

type Place = ReturnType<typeof placeUnder>

/** What stands above and before the first sentence under a heading or a title. Each sentence changes it for the next. */
const placeUnder = (question: AskedQuestion, above: string, heading: string, numbered: string) => ({
  /** Without the nearest heading, unless that is of the passage's title. */
  title: matchesOf(question, topicTerms(above)),
  heading: matchesOf(question, topicTerms(heading)),
  aboveNumbers: numberedIn(numbered),
  /** In the last sentence of the block that numbers a thing. */
  earlierNumbers: NO_NUMBERS,
  /** A question in the text. */
  asked: NOTHING,
  /** The paragraph that leads to a list or table. */
  lead: NOTHING,
  before: NOTHING,
  topic: NOTHING
})

const times = (matches: TermMatches, weight: number): TermMatches => matches.map((value) => weight * value)

/** How much of the question is matched by the sentence, by what stands above, before and after it, and what is missing. */
function* matchFeatures(
  question: AskedQuestion,
  { kind, text }: Sentence,
  place: Place,
  matches: Readonly<Record<"own" | "next" | "whole" | "header" | "caption", TermMatches>>
): Features {
  const { focus, names, terms, weights } = question
  const share = (matches: TermMatches, of?: ReadonlyArray<number>): number => coverage(question, matches, of)
  const { asked, heading, lead, title, topic } = place
  const { caption, header, next, own, whole } = matches
  const isRow = kind === "row"
  // A pronoun may stand for anything that its paragraph has named.
  const previous = PRONOUN.test(text) ? best(place.before, topic) : place.before
  const before = kind === "paragraph" ? previous : lead
  const above = best(title, heading, asked, ...(isRow ? [header, caption] : []))
  const around = best(
    own,
    times(heading, UNDER.heading),
    times(title, UNDER.title),
    times(asked, UNDER.question),
    times(before, AFTER),
    ...(isRow ? [times(header, UNDER.header), times(caption, UNDER.caption)] : [])
  )
  const parts = { own, around, above, before, next, heading, title, asked, topic, whole, header }
  for (const [name, matches] of Object.entries(parts)) yield [name, share(matches)]
  yield ["exact", share(own.map((value) => (value === 1 ? 1 : 0)))]
  yield ["matches", Math.min(own.filter((value) => value > 0).length, 6) / 6]
  const total = weights.reduce((a, b) => a + b, 0) || 1
  const heaviest = weights.indexOf(Math.max(...weights))
  for (const [name, matches] of Object.entries({ own, around, whole })) {
    const lacking = weights.map((weight, i) => weight * (1 - (matches[i] ?? 0)))
    yield [`${name}:missing`, Math.max(0, ...lacking) / total]
    yield [`${name}:heaviest`, matches[heaviest] ?? 0]
    yield [`${name}:first`, matches[0] ?? 0]
    yield [`${name}:last`, matches.at(-1) ?? 0]
    yield [`${name}:focus`, share(matches, focus) - 1]
    yield [`${name}:names`, share(matches, names) - 1]
    yield [`${name}:lacks`, Math.min(3, matches.filter((value) => value < IS_MATCHED).length) / 3]
  }
  // What the text above does not say must be in the sentence.
  const rest = [...weights.keys()].filter((i) => (above[i] ?? 0) < IS_MATCHED)
  yield ["rest", rest.length === 0 ? 0 : share(own, rest)]
  if (rest.length === 0) yield ["noRest", 1]
  if (PRONOUN.test(text)) yield* [["pronoun", 1] as const, ["pronoun:before", share(before)] as const]
  yield [`terms:${Math.min(terms.length, 6)}`, 1]
  yield [`language:${question.language}`, 1]
  yield [`asked:${question.type}`, 1]
}

/** Whether it begins with what is asked about, the longest run of the question's terms, and how close together they are. */
function* orderFeatures(question: AskedQuestion, content: ReadonlySet<Term>): Features {
  const { terms } = question
  const order = [...content]
  yield ["begins", coverage(question, matchesOf(question, new Set(order.slice(0, BEGINNING))))]
  const places = terms.map((term) => order.indexOf(term))
  let run = 0
  let longest = 0
  places.forEach((place, i) => {
    const before = places[i - 1] ?? -1
    run = before >= 0 && place > before && place - before <= 3 ? run + 1 : 0
    longest = Math.max(longest, run)
  })
  const found = places.filter((place) => place >= 0)
  yield ["run", longest / Math.max(1, terms.length - 1)]
  yield ["density", found.length < 2 ? 0 : found.length / (Math.max(...found) - Math.min(...found) + 1)]
}

/** Words and CJK characters. */
const sizeOf = (terms: ReadonlySet<Term>): number => [...terms].filter(({ kind }) => kind !== "pair").length

/** How much of a question some terms have, and how much of them the question has. */
const matchBoth = (question: AskedQuestion, terms: ReadonlySet<Term>): readonly [number, number] => {
  const matches = matchesOf(question, terms)
  const known = matches.filter((value) => value > 0).length / (sizeOf(terms) || 1)
  return [coverage(question, matches), Math.min(1, known)]
}

/** Features of form: the kind of thing that is asked for, numbers, and the sentence itself. */
function* formFeatures(question: AskedQuestion, sentence: Sentence, content: ReadonlySet<Term>): Features {
  const { cells, kind, text } = sentence
  const rest = question.figures.reduce((left, number) => left.replaceAll(number, "#"), text)
  const expected = EXPECTED[question.type]
  if (expected !== undefined) yield ["answers", expected.some((one) => ANSWER_KINDS[one].test(rest)) ? 1 : -1]
  for (const [name, pattern] of Object.entries(ANSWER_KINDS)) if (pattern.test(rest)) yield [name, 1]
  if (question.asksMost) yield ["most", ANSWER_KINDS.compares.test(text) ? 1 : -1]
  if (hasOpposite(question, content)) yield ["opposite", 1]
  const label = topicTerms(cells?.[0] ?? LABEL.exec(text)?.[0] ?? "")
  const [labelShare, labelKnown] = matchBoth(question, label)
  yield ["label", labelShare]
  yield ["labelKnown", labelKnown]
  if (kind === "row" && label.size > 0 && labelShare === 0) yield ["rowOfOther", 1]
  if (question.type === "definition") {
    const defined = topicTerms(withoutFunctionWords(DEFINED.exec(text)?.[0] ?? ""))
    const [share, known] = matchBoth(question, defined)
    yield ["defined", share * known]
  }
  const words = allWordsOf(text)
  yield ["words", question.words.intersection(words).size / (question.words.size || 1)]
  const fresh = [...content].filter(
    (term) => term.kind !== "character" && !question.terms.includes(term)
  ).length
  yield ["fresh", Math.min(fresh, 8) / 8]
  if (fresh === 0) yield [words.isSubsetOf(question.words) ? "restates" : "onlyFunctionWords", 1]
  const size = sizeOf(content)
  yield ["length", Math.log(size || 1) / 4]
  if (size < SHORT) yield ["short", 1]
  if (size > LONG) yield ["long", 1]
  const isCaption = CAPTION.test(text)
  if (isCaption) yield ["caption", 1]
  if (question.asksForPicture) yield ["picture", isCaption ? 1 : -1]
  yield [kind, 1]
}

/** Features of numbers: those of the question, and whether they number the same things. */
function* numberFeatures({ numbers: asked }: AskedQuestion, numbers: Numbers, place: Place): Features {
  if (asked.all.size === 0) return
  yield ["numbers", asked.all.isSubsetOf(numbers.all) ? 1 : -1]
  yield ["numbers:near", asked.all.isSubsetOf(numbers.all.union(place.aboveNumbers.all)) ? 1 : -1]
  if (numbers.all.size > 0 && asked.all.isDisjointFrom(numbers.all)) yield ["otherNumbers", 1]
  const own = sameThings(asked, numbers)
  yield ["thing", own]
  // The nearest that names a thing of the kind decides.
  yield [
    "thing:near",
    own || sameThings(asked, place.earlierNumbers) || sameThings(asked, place.aboveNumbers)
  ]
}

/** The level of a Markdown heading, 1 to 6. */
const headingLevel = (text: string, start: number): number =>
  /#{1,6}(?=\s{1,20}$)/.exec(text.slice(Math.max(0, start - 26), start))?.[0].length ?? 1

/** The candidates of one passage: its sentences, items and rows, without headings and questions. */
const candidatesOf = (
  question: AskedQuestion,
  { title, ...read }: ReaderPassage,
  passage: number
): ReadonlyArray<WeightedSentence> => {
  const sentences = splitSentences(read)
  const contents = sentences.map(({ text }) => topicTerms(text))
  const matched = contents.map((content) => matchesOf(question, content))
  let open: ReadonlyArray<{ readonly level: number; readonly text: string }> = []
  let place = placeUnder(question, title, title.split(" > ").at(-1) ?? "", title)
  let header = NOTHING
  const whole = best(place.title, ...matched)
  const caption = best(...matched.filter((_, i) => CAPTION.test(sentences[i]!.text)))
  return sentences.flatMap((sentence, i): ReadonlyArray<WeightedSentence> => {
    const { block, kind, text } = sentence
    const own = matched[i]!
    const content = contents[i]!
    if (block !== sentences[i - 1]?.block)
      Object.assign(place, { topic: NOTHING, earlierNumbers: NO_NUMBERS })
    if (!/[\p{L}\p{N}]/u.test(text)) return []
    if (kind === "heading") {
      const level = headingLevel(read.text, sentence.start)
      const outer = open.filter((one) => one.level < level)
      open = [...outer, { level, text }]
      const above = [title, ...outer.map(({ text }) => text)].join(" ")
      place = placeUnder(question, above, text, `${above} ${text}`)
      return []
    }
    if (kind === "header") {
      header = own
      return []
    }
    if (kind !== "row" && ANSWER_KINDS.asks.test(text)) {
      Object.assign(place, { asked: own, before: own })
      return []
    }
    const next = sentences[i + 1]?.kind === kind ? matched[i + 1]! : NOTHING
    const numbers = numberedIn(text)
    const features = new Map([
      ...matchFeatures(question, sentence, place, { own, next, whole, header, caption }),
      ...orderFeatures(question, content),
      ...formFeatures(question, sentence, content),
      ...numberFeatures(question, numbers, place),
      [`passage:${Math.min(passage, 2)}`, 1] as const
    ])
    if (ANSWER_KINDS.leads.test(text) || kind === "paragraph") place.lead = own
    place.before = own
    if (sameThings(question.numbers, numbers) !== 0) place.earlierNumbers = numbers
    place.topic = best(own, times(place.topic, TOPIC_DECAY))
    return [{ passage, sentence: withItems(sentences, i), content, features }]
  })
}

/** A sentence that leads to a list, with its items. */
const withItems = (sentences: ReadonlyArray<Sentence>, at: number): Sentence => {
  const lead = sentences[at]!
  if (!ANSWER_KINDS.leads.test(lead.text) || lead.kind === "row") return lead
  const after = sentences.slice(at + 1, at + 1 + MAX_ITEMS)
  const end = after.findIndex(({ block, kind }) => kind !== "item" || block === lead.block)
  const items = end < 0 ? after : after.slice(0, end)
  const last = items.at(-1)
  return last === undefined
    ? lead
    : { ...lead, text: `${lead.text} ${items.map(({ text }) => text).join(" · ")}`, end: last.end }
}

export const weightedSentences = (
  question: AskedQuestion,
  passages: ReadonlyArray<ReaderPassage>
): ReadonlyArray<WeightedSentence> => {
  const candidates = passages.flatMap((passage, index) => candidatesOf(question, passage, index))
  // How each compares with the best of the others.
  for (const name of ["own", "around", "words", "exact", "rest"]) {
    const values = candidates.map(({ features }) => features.get(name) ?? 0)
    const sorted = values.toSorted((a, b) => b - a)
    const [first = 0, second = 0] = sorted
    const ranks = new Map(sorted.map((value, i) => [value, i] as const).toReversed())
    candidates.forEach(({ features }, i) => {
      const value = values[i]!
      features.set(`${name}:lead`, value - (value === first ? second : first))
      features.set(`${name}:rank`, 1 / (1 + ranks.get(value)!))
    })
  }
  return candidates
}
