/** How well a text matches the terms of a question. */
import { similarity } from "../text/trigrams.ts"
import type { Term } from "../text/Term.ts"
import { tokenize } from "../text/tokenize.ts"
import { isSameVerb } from "../text/irregularVerbs.ts"
import { digitsOf } from "./numbers.ts"
import type { AskedQuestion } from "./AskedQuestion.ts"

/** Words that are less similar are different. Similar words count less than equal ones. */
const SIMILAR = 0.55
const SIMILAR_COUNTS = 0.8

/** In letters: a compound has the word that it begins or ends with: `Gruppengröße`, `Größe`. */
const MIN_PART = 5

/** For each term of a question, 0 to 1. */
export type TermMatches = ReadonlyArray<number>

export const topicTerms = (text: string): ReadonlySet<Term> =>
  new Set(tokenize(text).filter(({ stop }) => !stop))

const isPart = (part: string, whole: string): boolean =>
  part.length >= MIN_PART &&
  whole.length > part.length + 2 &&
  (whole.startsWith(part) || whole.endsWith(part))

const alike = (a: Term, b: Term): number => {
  if (isSameVerb(a.key, b.key)) return 1
  if (isPart(a.key, b.key) || isPart(b.key, a.key)) return SIMILAR_COUNTS
  const value = similarity(a, b)
  return value >= SIMILAR ? value * SIMILAR_COUNTS : 0
}

/** A prefix that reverses a verb: “disconnected”. */
const REVERSING = /^(?:de|dis|mis|non|un|in)/

/** True if a sentence has the opposite of a term, and not the term. */
export const hasOpposite = ({ terms }: AskedQuestion, content: ReadonlySet<Term>): boolean =>
  terms.some(
    (term) =>
      term.kind === "word" &&
      !content.has(term) &&
      [...content].some(
        ({ key }) =>
          key !== term.key &&
          (key.replace(REVERSING, "") === term.key || term.key.replace(REVERSING, "") === key)
      )
  )

export const matchesOf = ({ terms }: AskedQuestion, content: ReadonlySet<Term>): TermMatches =>
  terms.map((term) => {
    if (content.has(term)) return 1
    const number = digitsOf(term.key)
    if (number !== undefined) return [...content].some(({ key }) => digitsOf(key) === number) ? 1 : 0
    if (term.kind !== "word" || /\d/.test(term.key)) return 0
    let best = 0
    for (const other of content) if (other.kind === "word") best = Math.max(best, alike(term, other))
    return best
  })

/** The best match of each term in any of several texts. */
export const best = (first: TermMatches, ...others: ReadonlyArray<TermMatches>): TermMatches =>
  others.reduce((all, matches) => all.map((value, i) => Math.max(value, matches[i] ?? 0)), first)

/** The share of some terms that match, weighted by rarity, 0 to 1; 1 without terms. */
export const coverage = (
  { weights }: AskedQuestion,
  matches: TermMatches,
  of: ReadonlyArray<number> = [...weights.keys()]
): number => {
  const total = of.reduce((sum, i) => sum + (weights[i] ?? 0), 0)
  return total === 0 ? 1 : of.reduce((sum, i) => sum + (weights[i] ?? 0) * (matches[i] ?? 0), 0) / total
}
