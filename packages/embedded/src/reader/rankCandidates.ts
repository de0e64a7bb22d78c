/** How probable it is that sentences answer a question: a network of one hidden layer, learnt from labelled questions. */
import type { WeightedSentence } from "./candidates.ts"
import { readerWeights } from "./ReaderWeights.ts"

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
  return output.reduce((sum, weight, i) => sum + weight * Math.max(0, sums[i]!), sums.at(-1)!)
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
