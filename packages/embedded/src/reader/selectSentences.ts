/** Selects the sentences of an answer from the candidates. */
import type { Term } from "../text/Term.ts"
import type { Question } from "./question.ts"
import type { Sentence } from "./passages/Sentence.ts"

export const MAX_SENTENCES = 3

/** The minimum coverage of the question by a sentence and its context. */
const MIN_COVERAGE = 0.4
const MIN_COVERAGE_CJK = 0.25

/**
 * The minimum coverage by its passage with title and headings: a passage that never names the thing does not answer the
 * question, whatever else it shares with it.
 */
const MIN_SUPPORT = 0.58
const MIN_SUPPORT_CJK = 0.4

/** Further sentences need this share of the best score, and at most this overlap with the others. */
const FOLLOWING = 0.8
const MAX_OVERLAP = 0.6

export const ENDS_SENTENCE = /[.!?:;。！？：；…][\p{Pe}\p{Pf}"'*_`\d[\],\s]*$/u

const NUMBERED = /^(?:\d{1,2}(?:\.\d{1,2}){0,4}|[IVX]{1,5})\.?\s+\p{Lu}/u
const MAX_HEADING = 80

export interface SentenceCandidate {
  readonly passage: number
  readonly sentence: Sentence
  readonly content: ReadonlySet<Term>
  /** True if the sentence or its heading is about the question. */
  readonly about: boolean
  readonly coverage: number
  /** The share of the question in its passage. */
  readonly support: number
  readonly score: number
}

/** The share of the smaller sentence's terms that the other has too. */
const overlap = (a: ReadonlySet<Term>, b: ReadonlySet<Term>): number =>
  a.intersection(b).size / (Math.min(a.size, b.size) || 1)

/** A row of the best one's table that lacks a term of the question: the question is about July, the row about May. */
const isOtherRow = (
  { terms }: Question,
  best: SentenceCandidate,
  { content, passage, sentence }: SentenceCandidate
): boolean =>
  sentence.kind === "row" &&
  best.sentence.kind === "row" &&
  passage === best.passage &&
  terms.some((term) => best.content.has(term) && !content.has(term))

/** A heading that a PDF does not mark: “5.3 Clocks”. */
const isHeading = ({ sentence: { kind, text } }: SentenceCandidate): boolean =>
  kind === "paragraph" && text.length <= MAX_HEADING && NUMBERED.test(text) && !ENDS_SENTENCE.test(text)

export const selectSentences = (
  question: Question,
  candidates: ReadonlyArray<SentenceCandidate>
): ReadonlyArray<SentenceCandidate> => {
  const enough = question.cjk ? MIN_COVERAGE_CJK : MIN_COVERAGE
  const supported = question.cjk ? MIN_SUPPORT_CJK : MIN_SUPPORT
  const ranked = candidates
    .filter(({ about, coverage, support }) => about && coverage >= enough && support >= supported)
    .toSorted((a, b) => b.score - a.score)
  const best = ranked[0]
  if (best === undefined) return []
  const chosen = [best]
  for (const candidate of ranked.slice(1)) {
    if (chosen.length === MAX_SENTENCES || candidate.score < best.score * FOLLOWING) break
    if (isOtherRow(question, best, candidate) || isHeading(candidate)) continue
    if (chosen.every(({ content }) => overlap(content, candidate.content) <= MAX_OVERLAP))
      chosen.push(candidate)
  }
  return [
    best,
    ...chosen.slice(1).toSorted((a, b) => a.passage - b.passage || a.sentence.start - b.sentence.start)
  ]
}
