/** The sentences of passages that answer a question. */
import type { CitedSentence, ReaderPassage } from "@sluice/core/models"
import { limitVocabulary } from "../text/Term.ts"
import { askedQuestion } from "./AskedQuestion.ts"
import { weightedSentences } from "./candidates.ts"
import { chooseSentences, rankCandidates } from "./rankCandidates.ts"

export { MAX_SENTENCES } from "./rankCandidates.ts"

/** The least probability that the shown sentences answer. Chosen on questions that are not in the training. */
const SURE = 0.65

/** The sentences with the probability that they answer, the most probable first. */
const rankSentences = (question: string, passages: ReadonlyArray<ReaderPassage>) => {
  limitVocabulary()
  return rankCandidates(weightedSentences(askedQuestion(question), passages))
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
  const [best, ...others] = chooseSentences(rankSentences(question, passages), SURE)
  if (best === undefined) return []
  return [
    best,
    ...others.toSorted((a, b) => a.passage - b.passage || a.sentence.start - b.sentence.start)
  ].map(({ passage, sentence }) => ({
    text: sentence.named ?? sentence.text,
    evidence: [{ passage, quote: passages[passage]?.text.slice(sentence.start, sentence.end) ?? "" }]
  }))
}

/** How probable it is that the best sentence of each passage answers. */
export const ratePassages = (
  question: string,
  passages: ReadonlyArray<ReaderPassage>
): ReadonlyArray<number> => {
  const ranked = rankSentences(question, passages)
  return passages.map((_, i) => ranked.find(([{ passage }]) => passage === i)?.[1] ?? 0)
}
