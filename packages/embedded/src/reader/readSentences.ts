/** The sentences of passages that answer a question. */
import type { CitedSentence, ReaderPassage } from "@sluice/core/models"
import { limitVocabulary } from "../text/Term.ts"
import { answerTypeTest } from "./answerType.ts"
import { findCandidates } from "./candidates.ts"
import { parseQuestion } from "./question.ts"
import { selectSentences } from "./selectSentences.ts"
import { sureness } from "./sure/sureness.ts"

export { MAX_SENTENCES } from "./selectSentences.ts"

/**
 * Sentences that answer with less probability, as the learnt model estimates it, are not shown. Of 183 questions about documents
 * that no rule was written on, answers shown that are wrong fall from .42 to .26, right ones from .420 to .413.
 */
const SURE = 0.2
const PASSAGES = 3

/**
 * The sentences that answer a question, at most three: the best first, the others in the order of the passages. None if too
 * little of the question is found.
 *
 * **Details.** A sentence scores by the share of the question's terms that it has, weighted by their rarity. Terms in the
 * sentence before, the heading or the title count less. A time, number, person, place or reason counts if the question
 * asks for one. A model that is learnt from labelled questions then decides whether the sentences are shown. Each comes with
 * its exact source. A table row has the name of its column before each cell.
 *
 * **Gotchas.** It compares words. A question that shares words with the passages may be answered even if they do not answer it,
 * and a right sentence may be refused.
 */
export const readSentences = (
  question: string,
  passages: ReadonlyArray<ReaderPassage>
): ReadonlyArray<CitedSentence> => {
  limitVocabulary()
  const parsed = parseQuestion(question)
  const isOfType = answerTypeTest(question)
  const candidates = passages.flatMap((passage, index) => findCandidates(parsed, isOfType, passage, index))
  const chosen = selectSentences(parsed, candidates)
  if (chosen.length === 0) return []
  // As many passages as the model has learnt from.
  const read = new Set(
    [...chosen.map(({ passage }) => passage), ...passages.keys()].slice(0, chosen.length + PASSAGES)
  )
  const order = [...read].slice(0, PASSAGES).toSorted((a, b) => a - b)
  const places = chosen.map(({ passage, sentence }) => ({
    passage: order.indexOf(passage),
    start: sentence.start
  }))
  const near = order.map((passage) => passages[passage]!)
  if (sureness(question, near, places) < SURE) return []
  return chosen.map(({ passage, sentence }) => ({
    text: sentence.named ?? sentence.text,
    evidence: [{ passage, quote: passages[passage]?.text.slice(sentence.start, sentence.end) ?? "" }]
  }))
}
