/** Stage 3: one list from the hits of vector search and keyword search. */
import { Effect } from "effect"
import type { Hit } from "../../store/PassageIndex.ts"
import { Fusion, type FusionWeights, type Retrievers, retrieversOf } from "./Fusion.ts"
import { stageOption } from "./RetrieveOptions.ts"
import { type FusedHit, rankEntry, type RetrievalStage } from "./RetrievalStage.ts"

/**
 * The hits of the retrievers that the fusion uses, best first.
 *
 * **Details.** The order of `hits` does not matter. Equal scores are ordered by the better of a passage's two ranks, then
 * by its rank in vector search, then by identifier.
 */
export const fuse = (fusion: Fusion, hits: ReadonlyArray<Hit>): ReadonlyArray<FusedHit> => {
  const used = retrieversOf(fusion)
  const score = scoreOf(fusion, hits)
  return hits
    .filter(
      ({ keywordRank, vectorRank }) =>
        (used.vector && vectorRank !== undefined) || (used.keywords && keywordRank !== undefined)
    )
    .map((hit) => ({ hit, score: score(hit) }))
    .toSorted(byScore(used))
}

const scoreOf = (fusion: Fusion, hits: ReadonlyArray<Hit>): ((hit: Hit) => number) => {
  switch (fusion._tag) {
    case "Dense":
      return ({ similarity = 0 }) => similarity
    case "Keywords":
      return ({ keywordScore = 0 }) => keywordScore
    case "Rrf": {
      const { keywords, vector } = shares(fusion.weights)
      // First in both lists scores 1.
      const part = (rank: number | undefined) => (rank === undefined ? 0 : (fusion.k + 1) / (fusion.k + rank))
      return ({ keywordRank, vectorRank }) => vector * part(vectorRank) + keywords * part(keywordRank)
    }
    case "MinMax": {
      const { keywords, vector } = shares(fusion.weights)
      const dense = scaled(hits.map(({ similarity }) => similarity))
      const lexical = scaled(hits.map(({ keywordScore }) => keywordScore))
      return ({ keywordScore, similarity }) => vector * dense(similarity) + keywords * lexical(keywordScore)
    }
  }
}

const shares = ({ keywords, vector }: FusionWeights): FusionWeights => {
  const total = vector + keywords || 1
  return { vector: vector / total, keywords: keywords / total }
}

/** Scales scores to 0–1, the lowest to 0; all to 1 where they are equal. */
const scaled = (values: ReadonlyArray<number | undefined>) => {
  const found = values.filter((value) => value !== undefined)
  const least = found.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  const most = found.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  return (value: number | undefined): number =>
    value === undefined ? 0 : most > least ? (value - least) / (most - least) : 1
}

/** Above any rank. */
const NEVER = Number.MAX_SAFE_INTEGER

const byScore =
  (used: Retrievers) =>
  (a: FusedHit, b: FusedHit): number =>
    b.score - a.score ||
    bestRank(a.hit, used) - bestRank(b.hit, used) ||
    (a.hit.vectorRank ?? NEVER) - (b.hit.vectorRank ?? NEVER) ||
    (a.hit.passage.id < b.hit.passage.id ? -1 : 1)

const bestRank = ({ keywordRank = NEVER, vectorRank = NEVER }: Hit, used: Retrievers): number =>
  Math.min(used.vector ? vectorRank : NEVER, used.keywords ? keywordRank : NEVER)

/** Orders the hits by the question's fusion. */
export const fuseStage: RetrievalStage = {
  name: "fuse",
  options: {
    fusion: stageOption(
      Fusion.schema,
      "a fusion made by Fusion.minMax(), Fusion.rrf(), Fusion.dense or Fusion.keywords, with finite weights of 0 or more, not both 0"
    )
  },
  run: ({ hits, options }) => Effect.succeed({ fused: fuse(options.fusion, hits) }),
  explain: ({ fused }, { passage }) => {
    const at = fused.findIndex(({ hit }) => hit.passage.id === passage.id)
    return at < 0 ? {} : { places: rankEntry("fusion", at + 1, fused[at]?.score) }
  }
}
