/** The stages of retrieval, in their order. */
import { Context } from "effect"
import { dedupeStage } from "./Dedupe.ts"
import { embedStage } from "./Embed.ts"
import { expandStage } from "./Expand.ts"
import { fuseStage } from "./Fuse.ts"
import { hydeStage, queriesStage } from "./Generate.ts"
import { recallStage } from "./Recall.ts"
import { rerankStage } from "./Rerank.ts"
import { selectStage } from "./Select.ts"
import type { RetrievalStage } from "./RetrievalStage.ts"

/** The built-in stages. */
export const STAGES: ReadonlyArray<RetrievalStage> = [
  embedStage,
  hydeStage,
  queriesStage,
  recallStage,
  fuseStage,
  dedupeStage,
  rerankStage,
  selectStage,
  expandStage
]

/**
 * The stages that a library runs, read when it is opened.
 *
 * ```ts
 * const boost: RetrievalStage = { name: "boost", run: (state) => Effect.succeed({ candidates: … }) }
 * Library.layer("./library").pipe(Layer.provide(Layer.succeed(RetrievalStages, STAGES.toSpliced(7, 0, boost))))
 * ```
 */
export const RetrievalStages = Context.Reference<ReadonlyArray<RetrievalStage>>(
  "@sluice/rag/RetrievalStages",
  {
    defaultValue: () => STAGES
  }
)
