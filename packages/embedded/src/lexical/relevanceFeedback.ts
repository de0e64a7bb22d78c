/** How near documents are to the best of them: relevant ones resemble each other. */
import { dot } from "./embedText.ts"

/**
 * The best documents after a first look, to which the others are compared; the better ones count far more. With more of
 * them Cranfield loses: .02 with six.
 */
const LEADERS = 3
const LEADER_POWER = 4

/**
 * A question may speak of several things, and the three best may all be of one. Then others lead too: those with words of
 * the question that no leader has, as far as these stand together in it, away from the first leader's. By chance words of
 * two documents would be mixed: the words change from one's to the other's less often than that by `APART` at least,
 * and fully by so much.
 */
const MORE_LEADERS = 3
const APART = 1
const FULLY_APART = 3

/**
 * A document is compared to those leaders that have the same words of the question, as a share of the words that either
 * has; to all of them where none has. Otherwise a question's second topic falls as the first one's documents rise.
 */
const SHARED_POWER = 1.5

/** What a question's words are among the candidates. */
export interface Asked {
  /** How rare each word is. */
  readonly rarity: Float64Array
  /** The words as they follow each other in the question, by their places in `rarity`. */
  readonly sequence: ReadonlyArray<number>
}

/** A document: how often it has each word of the question. */
type Counts = ReadonlyArray<number>

interface Leader {
  readonly index: number
  readonly weight: number
}

const has = (counts: Counts, place: number): boolean => (counts[place] as number) > 0

/** How rare the words are, together, that a document has and another has as well. */
const rarityOfBoth = ({ rarity }: Asked, a: Counts, b: Counts): number => {
  let sum = 0
  for (let place = 0; place < rarity.length; place++) {
    if (has(a, place) && has(b, place)) sum += rarity[place] as number
  }
  return sum
}

/** 0 to 1: whether what `a` alone and what `b` alone has of the question stand in different parts of it. */
const apart = ({ sequence }: Asked, a: Counts, b: Counts): number => {
  const ofB = sequence.filter((place) => has(a, place) !== has(b, place)).map((place) => has(b, place))
  const changes = ofB.filter((one, i) => i > 0 && one !== ofB[i - 1]).length
  const count = ofB.filter((one) => one).length
  const byChance = (2 * count * (ofB.length - count)) / (ofB.length || 1)
  return Math.max(0, Math.min((byChance - changes - APART) / (FULLY_APART - APART), 1))
}

const leadersOf = (
  asked: Asked,
  firsts: Float64Array,
  documents: ReadonlyArray<Counts>,
  rarities: Float64Array
): ReadonlyArray<Leader> => {
  const weightOf = (index: number) => Math.max(0, firsts[index] as number) ** LEADER_POWER
  const leaders = [...firsts.keys()]
    .toSorted((a, b) => (firsts[b] as number) - (firsts[a] as number) || a - b)
    .slice(0, LEADERS)
    .map((index): Leader => ({ index, weight: weightOf(index) }))
  const first = documents[leaders[0]?.index ?? -1]
  if (first === undefined) return leaders
  /** 1 for each word that no leader has. */
  const open = Array.from(asked.rarity, (_, place) =>
    leaders.some(({ index }) => has(documents[index] as Counts, place)) ? 0 : 1
  )
  for (let more = 0; more < MORE_LEADERS && open.includes(1); more++) {
    const shares = documents.map((counts, i) => rarityOfBoth(asked, counts, open) / (rarities[i] || 1))
    const values = shares.map((share, i) => share * (firsts[i] as number))
    const index = values.indexOf(Math.max(...values))
    const next = documents[index] as Counts
    const weight = weightOf(index) * (shares[index] as number) * apart(asked, first, next)
    if (weight > 0) leaders.push({ index, weight })
    next.forEach((count, place) => {
      if (count > 0) open[place] = 0
    })
  }
  return leaders
}

/** How near each document is to its leaders. `firsts` are the scores after a first look. */
export const nearnessOf = (
  asked: Asked,
  firsts: Float64Array,
  documents: ReadonlyArray<Counts>,
  vectors: ReadonlyArray<Float32Array>
): Float64Array => {
  const rarities = Float64Array.from(documents, (counts) => rarityOfBoth(asked, counts, counts))
  const leaders = leadersOf(asked, firsts, documents, rarities)
  return Float64Array.from(vectors, (vector, i) => {
    const shared = leaders.map(({ index, weight }) => {
      const both = rarityOfBoth(asked, documents[i] as Counts, documents[index] as Counts)
      const either = (rarities[i] as number) + (rarities[index] as number) - both
      return weight * (both / (either || 1)) ** SHARED_POWER
    })
    const shares = shared.some((share) => share > 0) ? shared : leaders.map(({ weight }) => weight)
    let sum = 0
    let total = 0
    leaders.forEach(({ index }, k) => {
      const share = shares[k] as number
      if (share > 0) sum += share * dot(vector, vectors[index] as Float32Array)
      total += share
    })
    return sum / (total || 1)
  })
}
