/** How the hits of two retrievers become one list: the value, its constructors and its JSON. */
import { Schema } from "effect"

const Weight = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

/** The weight of each retriever; only their proportion matters. */
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
 * How the hits of vector search and keyword search become one list.
 *
 * **Details.**
 *
 * - `rrf`: reciprocal rank fusion, Σ weight / (k + rank). Uses only ranks. `k` 60 and equal weights by default.
 * - `minMax`: each retriever's scores are scaled to 0–1 and averaged by weight; a missing score counts 0. Equal weights
 *   by default.
 * - `dense`: vector search alone.
 * - `keywords`: keyword search alone; the question is not embedded.
 *
 * The best fusion differs by collection: `tune` measures it.
 */
export type Fusion = typeof FusionSchema.Type
export const Fusion = {
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

/** Equal weights: before reranking the best on most collections, compared with reciprocal ranks and other weights. */
export const FUSION: Fusion = Fusion.minMax()

export interface Retrievers {
  readonly vector: boolean
  readonly keywords: boolean
}

export const retrieversOf = (fusion: Fusion): Retrievers => {
  if (fusion._tag === "Dense") return { vector: true, keywords: false }
  if (fusion._tag === "Keywords") return { vector: false, keywords: true }
  return { vector: fusion.weights.vector > 0, keywords: fusion.weights.keywords > 0 }
}
