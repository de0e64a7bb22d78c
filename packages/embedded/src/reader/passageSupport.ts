/** What of a question a whole passage holds, before its sentences are looked at one by one. */
import type { ReaderPassage } from "@sluice/core"
import { contentTerms, coverageOf, matchTerms, coverageOfTerms } from "./coverage.ts"
import type { Question } from "./question.ts"
import type { Sentence } from "./passages/Sentence.ts"

/** A name that the passage never says counts more than another word. */
const NAME_MISSING = 0.2
/** So does the word for what one of is asked for. */
const SOUGHT_MISSING = 0.2
/** Of what is asked about the names so much stands in the passage: that it speaks of them is not enough. */
const MIN_PROPERTY = 0.35

/** Says who does what it speaks of, whichever verb it has for it. */
const AGENT = /\p{Ll}[dnt]\s+by\s+(?!\p{Ll}+ing\b)\p{L}|\bbelongs? to\b|\bin charge of\b|\bresponsible for\b/u

/** Says since when a thing is there, whichever verb of making is asked with. */
const SINCE = /\bdat(?:es?|ing) (?:from|back)\b/
/** A sentence that says it in that way counts as one with the verb. */
const STANDS_IN = 0.7

export const impliesVerb = ({ asksWhenMade, asksWho }: Question, sentence: string): boolean =>
  (asksWho && AGENT.test(sentence)) || (asksWhenMade && SINCE.test(sentence))

export const matchesOtherTerms = (
  { required, subject }: Question,
  presences: ReadonlyArray<number>
): boolean => subject.every((i) => required.includes(i) || (presences[i] ?? 0) > 0)

export const withVerb = ({ required }: Question, presences: ReadonlyArray<number>): ReadonlyArray<number> =>
  presences.map((value, i) => (required.includes(i) ? Math.max(value, STANDS_IN) : value))

/** What it has of a question; undefined where it does not say what is asked about the names in it. */
export const passageSupport = (
  question: Question,
  { text, title }: ReaderPassage,
  sentences: ReadonlyArray<Sentence>
) => {
  const said = sentences.some(
    ({ text }) =>
      impliesVerb(question, text) &&
      question.subject.some((i) => !question.required.includes(i)) &&
      matchesOtherTerms(question, matchTerms(question, contentTerms(text)))
  )
  const whole = matchTerms(question, contentTerms(`${title}\n${text}`))
  const everything = said ? withVerb(question, whole) : whole
  const unnamed = question.names.filter((name) => name.every((i) => everything[i] === 0)).length
  const unsought = question.sought.length > 0 && question.sought.every((i) => everything[i] === 0)
  // A table that has the name and the year asked for may call what it lists otherwise
  const listed = question.years.length > 0 && unnamed === 0
  if (!listed && coverageOfTerms(question, question.property, everything) < MIN_PROPERTY) return undefined
  const support = coverageOf(question, everything) - NAME_MISSING * unnamed - (unsought ? SOUGHT_MISSING : 0)
  return { listed, said, support, whole }
}

/**
 * Whether a sentence about a thing that is called by a number has the verb that is asked for, where its passage has it: of
 * pump 11, “Pump 11 stopped. Pump 12 started.” says not when it started. `does` is where the sentence may have it from.
 */
export const hasVerb = (
  { numbered, verb }: Question,
  whole: ReadonlyArray<number>,
  does: ReadonlyArray<number>
): boolean => numbered.length === 0 || verb.every((i) => whole[i] === 0) || verb.some((i) => does[i]! > 0)
