/** How much of a question a whole passage has. */
import type { ReaderPassage } from "@sluice/core/models"
import { contentTerms, coverageOf, matchTerms, coverageOfTerms } from "./coverage.ts"
import type { Question } from "./question.ts"
import type { Sentence } from "./passages/Sentence.ts"

/** The penalty for a name that the passage lacks. */
const NAME_MISSING = 0.2
/** The penalty if it lacks the word for the kind of thing: “which *university*”. */
const SOUGHT_MISSING = 0.2
/** The minimum coverage of what is asked about the names: mentioning them is not enough. */
const MIN_PROPERTY = 0.35

/** Phrases that name an agent with any verb. */
const AGENT = /\p{Ll}[dnt]\s+by\s+(?!\p{Ll}+ing\b)\p{L}|\bbelongs? to\b|\bin charge of\b|\bresponsible for\b/u

/** Phrases that give the time of making with any verb. */
const SINCE = /\bdat(?:es?|ing) (?:from|back)\b/
/** The match of the verb in a sentence with such a phrase. */
const IMPLIED_VERB = 0.7

export const impliesVerb = ({ asksWhenMade, asksWho }: Question, sentence: string): boolean =>
  (asksWho && AGENT.test(sentence)) || (asksWhenMade && SINCE.test(sentence))

export const matchesOtherTerms = (
  { required, subject }: Question,
  presences: ReadonlyArray<number>
): boolean => subject.every((i) => required.includes(i) || (presences[i] ?? 0) > 0)

export const withVerb = ({ required }: Question, presences: ReadonlyArray<number>): ReadonlyArray<number> =>
  presences.map((value, i) => (required.includes(i) ? Math.max(value, IMPLIED_VERB) : value))

/** The support of a passage. Undefined if it lacks what the question asks about its names. */
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
  // A table with the name and the year of the question may use other words for what it lists.
  const listed = question.years.length > 0 && unnamed === 0
  if (!listed && coverageOfTerms(question, question.property, everything) < MIN_PROPERTY) return undefined
  const support = coverageOf(question, everything) - NAME_MISSING * unnamed - (unsought ? SOUGHT_MISSING : 0)
  return { listed, said, support, whole }
}

/**
 * True if this sentence contains the asked verb, or the passage does not contain it. Checked for numbered things only: “Pump
 * 11 stopped. Pump 12 started.” does not say when pump 11 started. `matches` are those of the sentence and its context.
 */
export const hasVerb = (
  { numbered, verb }: Question,
  whole: ReadonlyArray<number>,
  matches: ReadonlyArray<number>
): boolean => numbered.length === 0 || verb.every((i) => whole[i] === 0) || verb.some((i) => matches[i]! > 0)
