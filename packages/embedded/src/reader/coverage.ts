/** How well a text matches the terms of a question. */
import type { Term } from "../text/Term.ts"
import { tokenize } from "../text/tokenize.ts"
import { baseForm } from "../text/baseForms.ts"
import type { AskedQuestion } from "./AskedQuestion.ts"

/** Similar words count less than equal ones. */
const SIMILAR_COUNTS = 0.8

/** In letters: a compound has the word that it begins or ends with: `Gruppengröße`, `Größe`. */
const MIN_PART = 5

/** For each term of a question, 0 to 1. Empty if none matches. */
export type TermMatches = ReadonlyArray<number>
export const NOTHING: TermMatches = []

export const topicTerms = (text: string): ReadonlySet<Term> =>
  new Set(tokenize(text).filter(({ stop }) => !stop))

const isPart = (part: string, whole: string): boolean =>
  part.length >= MIN_PART &&
  whole.length > part.length + 2 &&
  (whole.startsWith(part) || whole.endsWith(part))

/** A prefix that reverses a verb: “disconnected”. */
const REVERSING = /^(?:de|dis|mis|non|un|in)/

const reverses = (word: string, other: string): boolean =>
  word !== other && word.replace(REVERSING, "") === other

/** True if a sentence has the opposite of a term, and not the term. */
export const hasOpposite = ({ terms }: AskedQuestion, content: ReadonlySet<Term>): boolean =>
  terms.some(
    (term) =>
      term.kind === "word" &&
      !content.has(term) &&
      content.values().some(({ key }) => reverses(key, term.key) || reverses(term.key, key))
  )

export const matchesOf = ({ similarTo, terms }: AskedQuestion, content: ReadonlySet<Term>): TermMatches => {
  const forms = new Set(Array.from(content, ({ key }) => baseForm(key)))
  const words = [...content].filter(({ kind }) => kind === "word")
  const similarities = terms.map(() => 0)
  for (const { index, similarity } of words.flatMap(similarTo))
    similarities[index] = Math.max(similarity, similarities[index]!)
  return terms.map(({ key, kind }, i) => {
    const form = baseForm(key)
    if (forms.has(form)) return 1
    if (kind !== "word" || /\d/.test(form)) return 0
    if (words.some((other) => isPart(key, other.key) || isPart(other.key, key))) return SIMILAR_COUNTS
    return SIMILAR_COUNTS * similarities[i]!
  })
}

/** The best match of each term in any of several texts. If the first has none, the others have none. */
export const best = (first = NOTHING, ...others: ReadonlyArray<TermMatches>): TermMatches =>
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
