/** How much of a question a text has. */
import { similarity } from "../text/trigrams.ts"
import type { Term } from "../text/Term.ts"
import { tokenize } from "../text/tokenize.ts"
import { isSameVerb } from "../text/irregularVerbs.ts"
import { isNumber, type Question } from "./question.ts"

/** Words that are less similar are different. Similar words count less than equal ones. */
const SIMILAR = 0.62
const SIMILAR_COUNTS = 0.7

/** A prefix that reverses a verb: “disconnected”. */
const NEGATING_PREFIX = /^(?:de|dis|mis|non|un)/

const isOpposite = (a: string, b: string): boolean =>
  a.replace(NEGATING_PREFIX, "") === b || b.replace(NEGATING_PREFIX, "") === a

export const contentTerms = (text: string): ReadonlySet<Term> =>
  new Set(tokenize(text).filter(({ stop }) => !stop))

/** How well a text matches each term of a question, 0 to 1. In a yes-no question an opposite matches too. */
export const matchTerms = ({ isYesNo, terms }: Question, content: ReadonlySet<Term>): ReadonlyArray<number> =>
  terms.map((term) => {
    if (content.has(term)) return 1
    // Person317 and Person371 are different, however similar.
    if (term.kind !== "word" || /\d/.test(term.key)) return 0
    let best = 0
    for (const other of content) {
      if (other.kind !== "word") continue
      const alike = isSameVerb(term.key, other.key) ? 1 : similarity(term, other)
      if (alike > best && (isYesNo || !isOpposite(term.key, other.key))) best = alike
    }
    return best >= SIMILAR ? best * SIMILAR_COUNTS : 0
  })

/** The share of a question's terms that match, weighted by rarity, 0 to 1. */
export const coverageOf = ({ weights }: Question, presences: ReadonlyArray<number>): number => {
  const total = weights.reduce((a, b) => a + b, 0)
  return total === 0 ? 0 : weights.reduce((sum, weight, i) => sum + weight * (presences[i] ?? 0), 0) / total
}

/** The coverage of some terms; 1 for none. */
export const coverageOfTerms = (
  { weights }: Question,
  places: ReadonlyArray<number>,
  presences: ReadonlyArray<number>
): number => {
  const total = places.reduce((sum, i) => sum + (weights[i] ?? 0), 0)
  return total === 0 ? 1 : places.reduce((sum, i) => sum + (weights[i] ?? 0) * (presences[i] ?? 0), 0) / total
}

/** True if a text has all numbers of the question, none as part of another number. */
export const hasAllNumbers = ({ figures }: Question, text: string): boolean =>
  figures.length > 0 && figures.every((figure) => figure.test(text))

const HEADING = 0.4
/** Text under a question answers it without repeating it; text under a date is about that time. */
const UNDER_QUESTION = 0.8
const UNDER_NUMBERS = 0.8

export const ENDS_WITH_QUESTION = /[?？]["'”’*_)\]）」』\s]*$/u

/** A heading, or a question in the text. `matches` are its terms of the question, `counts` what they count below it. */
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
