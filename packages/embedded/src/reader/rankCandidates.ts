/** How probable it is that sentences answer a question: a network of one hidden layer, learnt from labelled questions. */
import type { WeightedSentence } from "./candidates.ts"
import { readerWeights } from "./ReaderWeights.ts"

export const MAX_SENTENCES = 3
/** A sentence with less does not make an answer surer. */
const MIN_SHARE = 0.05
/** The share of the smaller sentence's terms that another may have. */
const MAX_OVERLAP = 0.6

/** The weights are written as integers. */
export const WEIGHT_UNIT = 0.01

const [names = [], ...units] = readerWeights
  .trim()
  .split("\n")
  .map((line) => line.split(" "))
const numbers = (values: ReadonlyArray<string | undefined>) =>
  Float64Array.from(values, (value) => Number(value) * WEIGHT_UNIT)
const output = numbers(units.pop() ?? [])
/** By feature: its weights in the hidden units, and last in the score itself. */
const weights = new Map(names.map((name, i) => [name, numbers(units.map((unit) => unit[i]))]))
const bias = weights.get("BIAS") ?? new Float64Array(1)

const scoreOf = ({ features }: WeightedSentence): number => {
  const sums = bias.slice()
  for (const [name, value] of features) {
    const own = weights.get(name)
    if (own !== undefined && value !== 0) for (let i = 0; i < sums.length; i++) sums[i]! += value * own[i]!
  }
  const direct = sums.length - 1
  return output.reduce((sum, weight, i) => sum + weight * Math.max(0, sums[i]!), sums[direct]!)
}

/** How probable it is that each candidate answers, the most probable first. The rest of 1 is that none does. */
export const rankCandidates = (
  candidates: ReadonlyArray<WeightedSentence>
): ReadonlyArray<readonly [candidate: WeightedSentence, probability: number]> => {
  const odds = candidates.map((candidate) => Math.exp(Math.min(scoreOf(candidate), 50)))
  const total = odds.reduce((sum, one) => sum + one, 1)
  return candidates
    .map((candidate, i) => [candidate, (odds[i] ?? 0) / total] as const)
    .toSorted(([, a], [, b]) => b - a)
}

const overlaps = ({ content: a }: WeightedSentence, { content: b }: WeightedSentence): boolean =>
  a.intersection(b).size / (Math.min(a.size, b.size) || 1) > MAX_OVERLAP

/** As few candidates as answer with a probability of `least` together, the most probable first. None if three do not. */
export const chooseSentences = (
  ranked: ReturnType<typeof rankCandidates>,
  least: number
): ReadonlyArray<WeightedSentence> => {
  const chosen: Array<WeightedSentence> = []
  let sure = 0
  for (const [candidate, probability] of ranked) {
    if (sure >= least || chosen.length === MAX_SENTENCES || probability < MIN_SHARE) break
    sure += probability
    if (!chosen.some((other) => overlaps(candidate, other))) chosen.push(candidate)
  }
  return sure < least ? [] : chosen
}
