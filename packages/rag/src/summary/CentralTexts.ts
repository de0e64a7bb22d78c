/**
 * Finds the most central texts of a set: those whose words are most like the words of all. The centroid method of Radev et
 * al., “Centroid-based summarization of multiple documents” (2004), with maximal marginal relevance against repetition.
 */
import { contentWords } from "@sluice/core/text"

/** The weight of being unlike the texts chosen before. 0 allows repetitions. */
const DIVERSITY = 0.3

type Vector = ReadonlyMap<string, number>

const normalized = (vector: Vector): Vector => {
  const norm = Math.hypot(...vector.values())
  return new Map([...vector].map(([term, weight]) => [term, weight / (norm || 1)]))
}

const cosine = (a: Vector, b: Vector): number => {
  let sum = 0
  for (const [term, weight] of a) sum += weight * (b.get(term) ?? 0)
  return sum
}

/** A vector of norm 1 for each text: the frequency of its words × how rare they are in the set. */
const vectorsOf = (texts: ReadonlyArray<string>): ReadonlyArray<Vector> => {
  const counted = texts.map((text) => {
    const counts = new Map<string, number>()
    for (const word of contentWords(text)) counts.set(word, (counts.get(word) ?? 0) + 1)
    return counts
  })
  const holders = new Map<string, number>()
  for (const term of counted.flatMap((counts) => [...counts.keys()]))
    holders.set(term, (holders.get(term) ?? 0) + 1)
  return counted.map((counts) =>
    normalized(
      new Map(
        [...counts].map(([term, count]) => [term, count * Math.log(1 + texts.length / holders.get(term)!)])
      )
    )
  )
}

/** The indices of the texts, most central first, each unlike those before it. At most `limit`. */
export const centralTexts = (texts: ReadonlyArray<string>, limit: number): ReadonlyArray<number> => {
  const vectors = vectorsOf(texts)
  const sum = new Map<string, number>()
  for (const [term, weight] of vectors.flatMap((vector) => [...vector]))
    sum.set(term, (sum.get(term) ?? 0) + weight)
  const centroid = normalized(sum)
  const centrality = vectors.map((vector) => cosine(vector, centroid))
  const repeated = vectors.map(() => 0)
  const rest = new Set(vectors.keys())
  const chosen: Array<number> = []
  while (chosen.length < limit && rest.size > 0) {
    const value = (i: number): number => (1 - DIVERSITY) * centrality[i]! - DIVERSITY * repeated[i]!
    const best = [...rest].reduce((a, b) => (value(b) > value(a) ? b : a))
    rest.delete(best)
    chosen.push(best)
    for (const i of rest) repeated[i] = Math.max(repeated[i]!, cosine(vectors[i]!, vectors[best]!))
  }
  return chosen
}
