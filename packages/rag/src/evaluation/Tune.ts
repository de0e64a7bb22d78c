/** The fusion that suits a collection, by questions made from its own headings and captions: no labels are needed. */
import { type Embedder, Reranker } from "@sluice/core"
import { Effect, type Scope } from "effect"
import { type Difference, pairedBootstrap } from "./Bootstrap.ts"
import type { RunMetrics } from "./Metrics.ts"
import { Fusion, FUSION } from "../retrieval/stages/Fusion.ts"
import type { LibraryService } from "../library/LibraryService.ts"
import { evaluateLibrary } from "./LibraryEvaluation.ts"
import type { RagError } from "../document/RagError.ts"

/** Fusions that are tried where none are given: the default, and what leans further to either side. */
export const FUSIONS: ReadonlyArray<Fusion> = [
  FUSION,
  Fusion.minMax({ weights: { vector: 0.3, keywords: 0.7 } }),
  Fusion.minMax({ weights: { vector: 0.7, keywords: 0.3 } }),
  Fusion.rrf(),
  Fusion.rrf({ k: 10, weights: { vector: 0.5, keywords: 1 } }),
  Fusion.dense,
  Fusion.keywords
]

/**
 * Another fusion than the default is chosen only when chance alone would rarely show any as better: of six that are tried
 * each has a sixth of it (Bonferroni).
 */
export const SIGNIFICANT = 0.05

/** One fusion: its fused list alone, before reranking. */
export interface TunedFusion extends Pick<RunMetrics, "hit@3" | "MRR@10" | "recall@20"> {
  readonly fusion: Fusion
  /** The mean of the three, 0 to 1: what is chosen by. */
  readonly score: number
  /** Of the score, against the default's. */
  readonly difference: Difference
}

/** What was measured, and what follows: `fusion` is to be passed as an option. */
export interface Tuning {
  readonly fusion: Fusion
  readonly questions: number
  readonly fusions: ReadonlyArray<TunedFusion>
  /** What a reader must know of it, in plain sentences. */
  readonly note: string
}

/**
 * Chooses the fusion for a library.
 *
 * **Details.** Questions are the collection's own headings and captions (`evaluateLibrary`), 200 at most, held out of
 * what is indexed for it in a temporary folder. The reranker is not asked: what is measured is the list that it would
 * get. The fusion with the highest score is chosen where its advantage over the default is significant (p < .05, shared
 * by all that are tried), else the default.
 *
 * **Gotchas.** An embedding model that costs something embeds the library once more. Fails with `Empty` for a library
 * without headings and captions.
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
  }).pipe(Effect.provideService(Reranker, inTheFusedOrder))
  const eachOf = (name: string): ReadonlyArray<RunMetrics> =>
    evaluation.each.find((run) => run.name === name)?.each ?? []
  const usual = eachOf("default").map(scoreOf)
  const measured = fusions.map((fusion, i): TunedFusion => {
    const each = eachOf(nameOf(i))
    return {
      fusion,
      "hit@3": mean(each.map((one) => one["hit@3"])),
      "MRR@10": mean(each.map((one) => one["MRR@10"])),
      "recall@20": mean(each.map((one) => one["recall@20"])),
      score: mean(each.map(scoreOf)),
      difference: pairedBootstrap(each.map(scoreOf), usual)
    }
  })
  const level = SIGNIFICANT / Math.max(1, fusions.filter((fusion) => fusion !== FUSION).length)
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

const mean = (values: ReadonlyArray<number>): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)

/** Leaves every list as it is, so that the list itself is measured. */
const inTheFusedOrder = Reranker.of({
  model: { id: "none", kind: "neural", maxDocuments: 1_000 },
  rerank: (_, documents) =>
    Effect.succeed({ results: documents.map((_, index) => ({ index, score: -index })), tokens: 0 })
})
