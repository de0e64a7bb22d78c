/** One order out of two: what the vector found and what keywords found. */
import { Schema } from "effect"
import type { Hit } from "../store/PassageIndex.ts"

const Weight = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

/** What each way of recall counts; only their proportion matters. */
export const FusionWeights = Schema.Struct({ vector: Weight, keywords: Weight }).check(
  Schema.makeFilter(({ keywords, vector }) => vector > 0 || keywords > 0 || "one weight above 0")
)
export type FusionWeights = typeof FusionWeights.Type

const FusionSchema = Schema.Union([
  Schema.Struct({
    _tag: Schema.Literal("Rrf"),
    k: Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)),
    weights: FusionWeights
  }),
  Schema.Struct({ _tag: Schema.Literal("MinMax"), weights: FusionWeights }),
  Schema.Struct({ _tag: Schema.Literal("Dense") }),
  Schema.Struct({ _tag: Schema.Literal("Keywords") })
])

const EQUAL: FusionWeights = { vector: 1, keywords: 1 }

/**
 * How passages that were found by vector and by keywords become one list: a value, with its constructors.
 *
 * **Details.**
 *
 * - `rrf`: reciprocal rank fusion, Σ weight / (k + rank). Looks at ranks alone. `k` 60 and equal weights by default.
 * - `minMax`: each way's scores are stretched to 0–1 and averaged by weight; what a way did not find counts 0.
 *   Equal weights by default.
 * - `dense`: the vector's order alone; keywords are not asked.
 * - `keywords`: the keywords' order alone; the question is not embedded.
 *
 * Which is best differs from collection to collection: `tune` measures it.
 */
export type Fusion = typeof FusionSchema.Type
export const Fusion = {
  /** The same as it comes from outside. */
  schema: FusionSchema,
  rrf: (options: { readonly k?: number; readonly weights?: FusionWeights } = {}): Fusion => ({
    _tag: "Rrf",
    k: options.k ?? 60,
    weights: options.weights ?? EQUAL
  }),
  minMax: (options: { readonly weights?: FusionWeights } = {}): Fusion => ({
    _tag: "MinMax",
    weights: options.weights ?? EQUAL
  }),
  dense: { _tag: "Dense" } as Fusion,
  keywords: { _tag: "Keywords" } as Fusion
}

/** A hit and its score in the fused list: 0 to 1, except for `dense` (cosine) and `keywords` (BM25). */
export interface Fused {
  readonly hit: Hit
  readonly score: number
}

/** Whether a fusion looks at what the vector, or keywords, found. */
export const asks = (fusion: Fusion): { readonly vector: boolean; readonly keywords: boolean } => {
  if (fusion._tag === "Dense") return { vector: true, keywords: false }
  if (fusion._tag === "Keywords") return { vector: false, keywords: true }
  return { vector: fusion.weights.vector > 0, keywords: fusion.weights.keywords > 0 }
}

/**
 * The hits that the fusion looks at, best first.
 *
 * **Details.** The order of the hits given does not matter. Equal scores are ordered by the better of a passage's two
 * ranks, then by the vector's rank, then by identifier.
 */
export const fuse = (fusion: Fusion, hits: ReadonlyArray<Hit>): ReadonlyArray<Fused> => {
  const asked = asks(fusion)
  const score = scoreOf(fusion, hits)
  return hits
    .filter(
      ({ keywordRank, vectorRank }) =>
        (asked.vector && vectorRank !== undefined) || (asked.keywords && keywordRank !== undefined)
    )
    .map((hit) => ({ hit, score: score(hit) }))
    .toSorted(byScore(asked))
}

const scoreOf = (fusion: Fusion, hits: ReadonlyArray<Hit>): ((hit: Hit) => number) => {
  switch (fusion._tag) {
    case "Dense":
      return ({ similarity = 0 }) => similarity
    case "Keywords":
      return ({ keywordScore = 0 }) => keywordScore
    case "Rrf": {
      const { keywords, vector } = shares(fusion.weights)
      // The best rank in both ways scores 1.
      const part = (rank: number | undefined) => (rank === undefined ? 0 : (fusion.k + 1) / (fusion.k + rank))
      return ({ keywordRank, vectorRank }) => vector * part(vectorRank) + keywords * part(keywordRank)
    }
    case "MinMax": {
      const { keywords, vector } = shares(fusion.weights)
      const dense = stretch(hits.map(({ similarity }) => similarity))
      const lexical = stretch(hits.map(({ keywordScore }) => keywordScore))
      return ({ keywordScore, similarity }) => vector * dense(similarity) + keywords * lexical(keywordScore)
    }
  }
}

const shares = ({ keywords, vector }: FusionWeights): FusionWeights => {
  const total = vector + keywords || 1
  return { vector: vector / total, keywords: keywords / total }
}

/** Scores to 0–1, the least to 0; where all are equal, to 1. */
const stretch = (values: ReadonlyArray<number | undefined>) => {
  const found = values.filter((value) => value !== undefined)
  const least = found.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  const most = found.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  return (value: number | undefined): number =>
    value === undefined ? 0 : most > least ? (value - least) / (most - least) : 1
}

/** Later than any rank. */
const NEVER = Number.MAX_SAFE_INTEGER

const byScore =
  (asked: ReturnType<typeof asks>) =>
  (a: Fused, b: Fused): number =>
    b.score - a.score ||
    bestRank(a.hit, asked) - bestRank(b.hit, asked) ||
    (a.hit.vectorRank ?? NEVER) - (b.hit.vectorRank ?? NEVER) ||
    (a.hit.passage.id < b.hit.passage.id ? -1 : 1)

const bestRank = ({ keywordRank = NEVER, vectorRank = NEVER }: Hit, asked: ReturnType<typeof asks>): number =>
  Math.min(asked.vector ? vectorRank : NEVER, asked.keywords ? keywordRank : NEVER)
