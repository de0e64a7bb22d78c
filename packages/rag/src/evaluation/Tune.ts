/** Chooses the fusion for a collection by questions made from its headings and captions. Needs no judgements. */
import { type Embedder, Reranker } from "@sluice/core"
import { Effect, type Scope, Struct } from "effect"
import { type Difference, pairedBootstrap } from "./Comparison.ts"
import { meanOf, type RunMetrics } from "./Metrics.ts"
import { Fusion, FUSION } from "../retrieval/stages/Fusion.ts"
import type { LibraryService } from "../library/LibraryService.ts"
import { evaluateLibrary } from "./LibraryEvaluation.ts"
import type { RagError } from "../document/RagError.ts"

/** The fusions to try: the default, and others with more weight on either retriever. */
export const FUSIONS: ReadonlyArray<Fusion> = [
  FUSION,
  Fusion.minMax({ weights: { vector: 0.3, keywords: 0.7 } }),
  Fusion.minMax({ weights: { vector: 0.7, keywords: 0.3 } }),
  Fusion.rrf(),
  Fusion.rrf({ k: 10, weights: { vector: 0.5, keywords: 1 } }),
  Fusion.dense,
  Fusion.keywords
]

/** The level of significance, shared by the fusions that are tried (Bonferroni). */
const SIGNIFICANCE = 0.05

/** The metrics of one fusion, before reranking. */
export interface TunedFusion extends Pick<RunMetrics, "hit@3" | "MRR@10" | "recall@20"> {
  readonly fusion: Fusion
  /** The mean of the three metrics, 0 to 1. The best score is chosen. */
  readonly score: number
  /** Score minus that of the default. */
  readonly difference: Difference
}

/** The measurements, and the chosen `fusion`, which is passed as an option. */
export interface Tuning {
  readonly fusion: Fusion
  readonly questions: number
  readonly fusions: ReadonlyArray<TunedFusion>
  /** How the fusion was chosen, in sentences. */
  readonly note: string
}

/**
 * Chooses the fusion for a library.
 *
 * **Details.** Asks at most 200 questions (`evaluateLibrary`) and measures the fused list before reranking. Chooses the
 * fusion with the highest score if its difference from the default is significant (p < .05, divided by the number of
 * fusions), else the default.
 *
 * **Gotchas.** A paid embedding model embeds the library again. Fails with `Empty` for a library without headings and
 * captions.
 *
 * ```ts
 * const { fusion } = yield* tune(library)
 * yield* library.ask(question, { fusion })
 * ```
 */
export const tune: (
  library: LibraryService,
  options?: { readonly fusions?: ReadonlyArray<Fusion>; readonly questions?: number }
) => Effect.Effect<Tuning, RagError, Embedder | Scope.Scope> = Effect.fn("tune")(function* (
  library,
  { fusions = FUSIONS, questions } = {}
) {
  const evaluation = yield* evaluateLibrary({
    library,
    configurations: fusions.map((fusion, i) => ({ name: nameOf(i), options: { fusion } })),
    ...(questions === undefined ? {} : { questions })
  }).pipe(Effect.provideService(Reranker, identityReranker))
  const metricsOf = (name: string): ReadonlyArray<RunMetrics> =>
    evaluation.each.find((run) => run.name === name)?.each ?? []
  const baseline = metricsOf("default").map(scoreOf)
  const measured = fusions.map((fusion, i): TunedFusion => {
    const each = metricsOf(nameOf(i))
    const metrics = meanOf(each)
    return {
      fusion,
      ...Struct.pick(metrics, ["hit@3", "MRR@10", "recall@20"]),
      score: scoreOf(metrics),
      difference: pairedBootstrap(each.map(scoreOf), baseline)
    }
  })
  const level = SIGNIFICANCE / Math.max(1, fusions.filter((fusion) => fusion !== FUSION).length)
  const [best] = measured
    .filter(({ difference }) => difference.difference > 0 && difference.p < level)
    .toSorted((a, b) => b.score - a.score)
  const verdict =
    best === undefined
      ? `None of ${fusions.length} fusions is better than the default by more than chance (p < ${level.toPrecision(1)}).`
      : `Chosen by the mean of hit@3, MRR@10 and recall@20: ${best.difference.difference.toFixed(3)} above the default, p ${best.difference.p.toPrecision(2)}.`
  return {
    fusion: best?.fusion ?? FUSION,
    questions: evaluation.queries,
    fusions: measured,
    note: `${verdict} ${evaluation.note}`
  }
})

const nameOf = (index: number): string => `fusion ${index + 1}`

const scoreOf = (metrics: RunMetrics): number =>
  (metrics["hit@3"] + metrics["MRR@10"] + metrics["recall@20"]) / 3

/** Keeps the order of the fused list. */
const identityReranker = Reranker.of({
  model: { id: "none", kind: "neural", maxDocuments: 1_000 },
  rerank: (_, documents) =>
    Effect.succeed({ results: documents.map((_, index) => ({ index, score: -index })), tokens: 0 })
})
