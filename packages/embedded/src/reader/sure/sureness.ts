/** How probable it is that sentences answer a question, by a model that is learnt from labelled questions. */
import type { ReaderPassage } from "@sluice/core/models"
import { type WeightedSentence, weightedSentences } from "./candidates.ts"
import { askedQuestion } from "./AskedQuestion.ts"
import { readerWeights } from "./ReaderWeights.ts"

const weights = new Map(
  readerWeights
    .trim()
    .split(/\s+/)
    .map((entry) => {
      const at = entry.lastIndexOf("=")
      return [entry.slice(0, at), Number(entry.slice(at + 1))] as const
    })
)

const scoreOf = ({ features }: WeightedSentence): number =>
  features
    .entries()
    .reduce((sum, [name, value]) => sum + value * (weights.get(name) ?? 0), weights.get("bias") ?? 0)

/** How probable it is that each candidate answers, the most probable first. The rest of 1 is that none does. */
export const rankCandidates = (
  question: string,
  passages: ReadonlyArray<ReaderPassage>
): ReadonlyArray<readonly [candidate: WeightedSentence, probability: number]> => {
  const candidates = weightedSentences(askedQuestion(question), passages)
  const odds = candidates.map((candidate) => Math.exp(Math.min(scoreOf(candidate), 50)))
  const total = odds.reduce((sum, one) => sum + one, 1)
  return candidates
    .map((candidate, i) => [candidate, (odds[i] ?? 0) / total] as const)
    .toSorted(([, a], [, b]) => b - a)
}

/** A sentence of a passage: where it begins. */
export interface SentencePlace {
  readonly passage: number
  readonly start: number
}

/** How probable it is that any of these sentences answers, 0 to 1. */
export const sureness = (
  question: string,
  passages: ReadonlyArray<ReaderPassage>,
  chosen: ReadonlyArray<SentencePlace>
): number =>
  rankCandidates(question, passages)
    .filter(([{ passage, sentence }]) =>
      chosen.some((one) => one.passage === passage && one.start === sentence.start)
    )
    .reduce((sum, [, probability]) => sum + probability, 0)
