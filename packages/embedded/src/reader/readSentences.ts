/** The sentences of passages that answer a question. */
import type { CitedSentence, ReaderPassage } from "@sluice/core/models"
import { limitVocabulary } from "../text/Term.ts"
import { answerTypeTest } from "./answerType.ts"
import { findCandidates } from "./candidates.ts"
import { parseQuestion } from "./question.ts"
import { selectSentences } from "./selectSentences.ts"

export { MAX_SENTENCES } from "./selectSentences.ts"

/**
 * The sentences that answer a question, at most three: the best first, the others in the order of the passages. None if too
 * little of the question is found.
 *
 * **Details.** A sentence scores by the share of the question's terms that it has, weighted by their rarity. Terms in the
 * sentence before, the heading or the title count less. A time, number, person, place or reason counts if the question
 * asks for one. Each sentence comes with its exact source. A table row has the name of its column before each cell.
 *
 * **Gotchas.** It compares words. A question that shares words with the passages is answered even if they do not answer it.
 */
export const readSentences = (
  question: string,
  passages: ReadonlyArray<ReaderPassage>
): ReadonlyArray<CitedSentence> => {
  limitVocabulary()
  const parsed = parseQuestion(question)
  const isOfType = answerTypeTest(question)
  const candidates = passages.flatMap((passage, index) => findCandidates(parsed, isOfType, passage, index))
  return selectSentences(parsed, candidates).map(({ passage, sentence }) => ({
    text: sentence.named ?? sentence.text,
    evidence: [{ passage, quote: passages[passage]?.text.slice(sentence.start, sentence.end) ?? "" }]
  }))
}
