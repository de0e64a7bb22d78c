/** The sentences of passages that answer a question. */
import type { CitedSentence, ReaderPassage } from "@sluice/core/models"
import { limitVocabulary } from "../text/Term.ts"
import { askedQuestion } from "./AskedQuestion.ts"
import { type WeightedSentence, weightedSentences } from "./candidates.ts"
import { rankCandidates } from "./rankCandidates.ts"

export const MAX_SENTENCES = 3
/**
 * The least probability that the shown sentences answer. Of .65, .7, .75 and .8 the least with which a tenth of the answers
 * are wrong in cross validation: .14, .12, .10 and .09 (`learn.ts --check`).
 */
const SURE = 0.75
/** A sentence with less does not make an answer surer. */
const MIN_SHARE = 0.05
/** The share of the smaller sentence's terms that another may have. */
const MAX_OVERLAP = 0.6

const overlaps = ({ content: a }: WeightedSentence, { content: b }: WeightedSentence): boolean =>
  a.intersection(b).size / (Math.min(a.size, b.size) || 1) > MAX_OVERLAP

/** As few candidates as surely answer together, the most probable first. None if three do not. */
const chooseSentences = (ranked: ReturnType<typeof rankCandidates>): ReadonlyArray<WeightedSentence> => {
  const chosen: Array<WeightedSentence> = []
  let sure = 0
  for (const [candidate, probability] of ranked) {
    if (sure >= SURE || chosen.length === MAX_SENTENCES || probability < MIN_SHARE) break
    sure += probability
    if (!chosen.some((other) => overlaps(candidate, other))) chosen.push(candidate)
  }
  return sure < SURE ? [] : chosen
}

/**
 * The sentences that answer a question, at most three: the best first, the others in the order of the passages. None if it is
 * not probable that they do.
 *
 * **Details.** A model that is learnt from labelled questions weighs features of each sentence: how much of the question it
 * has, itself and by what stands around it, whether it has the kind of thing that is asked for, its form and its place. As few
 * sentences are given as make an answer probable. Each comes with its exact source. A table row has the name of its column
 * before each cell.
 *
 * **Gotchas.** It compares words. A question in other words than the passages is rarely answered.
 */
export const readSentences = (
  question: string,
  passages: ReadonlyArray<ReaderPassage>
): ReadonlyArray<CitedSentence> => {
  limitVocabulary()
  const chosen = chooseSentences(rankCandidates(weightedSentences(askedQuestion(question), passages)))
  return [
    ...chosen.slice(0, 1),
    ...chosen.slice(1).toSorted((a, b) => a.passage - b.passage || a.sentence.start - b.sentence.start)
  ].map(({ passage, sentence }) => ({
    text: sentence.named ?? sentence.text,
    evidence: [{ passage, quote: passages[passage]?.text.slice(sentence.start, sentence.end) ?? "" }]
  }))
}
