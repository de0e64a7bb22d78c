/** How much of a question stands in a text. */
import { similarity } from "../text/trigrams.ts"
import type { Term } from "../text/Term.ts"
import { tokenize } from "../text/tokenize.ts"
import { isSameVerb } from "./irregularVerbs.ts"
import { isNumber, type Question } from "./question.ts"

/** Words less alike than this are different words; alike ones count for less than the same. */
const SIMILAR = 0.62
const SIMILAR_COUNTS = 0.7

/** With one of these before it a verb says the opposite: “disconnected”. */
const UNDOES = /^(?:de|dis|mis|non|un)/

const isOpposite = (a: string, b: string): boolean =>
  a.replace(UNDOES, "") === b || b.replace(UNDOES, "") === a

export const contentTerms = (text: string): ReadonlySet<Term> =>
  new Set(tokenize(text).filter(({ stop }) => !stop))

/** How much of each term of the question stands in some text, 0 to 1. What denies one answers whether it is so. */
export const matchTerms = ({ isYesNo, terms }: Question, content: ReadonlySet<Term>): ReadonlyArray<number> =>
  terms.map((term) => {
    if (content.has(term)) return 1
    // Person317 and Person371 are two, however alike
    if (term.kind !== "word" || /\d/.test(term.key)) return 0
    let best = 0
    for (const other of content) {
      if (other.kind !== "word") continue
      const alike = isSameVerb(term.key, other.key) ? 1 : similarity(term, other)
      if (alike > best && (isYesNo || !isOpposite(term.key, other.key))) best = alike
    }
    return best >= SIMILAR ? best * SIMILAR_COUNTS : 0
  })

export const coverageOf = ({ weights }: Question, presences: ReadonlyArray<number>): number => {
  const total = weights.reduce((a, b) => a + b, 0)
  return total === 0 ? 0 : weights.reduce((sum, weight, i) => sum + weight * (presences[i] ?? 0), 0) / total
}

/** The same for some of its terms alone; all where there are none. */
export const coverageOfTerms = (
  { weights }: Question,
  places: ReadonlyArray<number>,
  presences: ReadonlyArray<number>
): number => {
  const total = places.reduce((sum, i) => sum + (weights[i] ?? 0), 0)
  return total === 0 ? 1 : places.reduce((sum, i) => sum + (weights[i] ?? 0) * (presences[i] ?? 0), 0) / total
}

/** Whether all numbers of the question stand in a text, none as a part of another. */
export const hasAllNumbers = ({ figures }: Question, text: string): boolean =>
  figures.length > 0 && figures.every((figure) => figure.test(text))

const HEADING = 0.4
/** What stands under a question answers it without saying it again, and under a date, what was then. */
const UNDER_QUESTION = 0.8
const UNDER_NUMBERS = 0.8

export const ENDS_WITH_QUESTION = /[?？]["'”’*_)\]）」』\s]*$/u

/** Its words, what of the question it says, and what that counts. */
export interface Heading {
  readonly text: string
  readonly matches: ReadonlyArray<number>
  readonly counts: ReadonlyArray<number>
}

export const headingOf = (question: Question, text: string): Heading => {
  const matches = matchTerms(question, contentTerms(text))
  const usual = ENDS_WITH_QUESTION.test(text) ? UNDER_QUESTION : HEADING
  const ofNumbers = hasAllNumbers(question, text) ? UNDER_NUMBERS : usual
  const counts = matches.map((value, i) => value * (isNumber(question.terms[i]!) ? ofNumbers : usual))
  return { text, matches, counts }
}
