/** The trace of a retrieval: ranks, scores and times. */
import type { Hit } from "../../store/PassageIndex.ts"
import type { Fusion } from "./Fusion.ts"
import type { RankedPassage } from "./RetrievalStage.ts"
import type { Defined } from "./RetrieveOptions.ts"

/** One recalled passage. Its vector, keyword and rerank scores are absent where it was not found or not reranked. */
export interface TracedPassage
  extends Defined<Omit<Hit, "vector">>, Omit<RankedPassage, "hit" | "relevance"> {
  readonly kept: boolean
  /** The part of the question that found it, from 1, if there are several. */
  readonly part?: number
}

/** How long a stage took. */
export interface StageTime {
  /** A stage of retrieval, such as `recall`, or of answering: `rewrite` (a follow-up), `calculate` (from tables), `look` (at figures), `read`, `verify`. */
  readonly stage: string
  readonly milliseconds: number
  /** Tokens that a model counted. */
  readonly tokens?: number
  /** Requests to the model, if there was more than one: the first response could not be read. */
  readonly calls?: number
  /** Texts that were searched besides the question. */
  readonly texts?: ReadonlyArray<string>
  /** The query over tables that a chat model wrote. */
  readonly sql?: string
  /** What could not be done. The question was answered without it. */
  readonly failed?: string
}

/** All recalled passages in the fused order, and the time of each stage that ran. */
export interface Trace {
  /** The question that was searched. */
  readonly question: string
  readonly collection: string
  readonly embeddingModel: string
  readonly rerankModel: string
  readonly readerModel?: string
  readonly visionModel?: string
  readonly verifierModel?: string
  /** The model that completed a follow-up. */
  readonly rewriterModel?: string
  /** What was retrieved apart, if the question has parts. Of a comparison, the question itself is the first. */
  readonly parts?: ReadonlyArray<string>
  readonly fusion: Fusion
  /** Passages that were reranked. */
  readonly candidates: number
  readonly passages: ReadonlyArray<TracedPassage>
  readonly stages: ReadonlyArray<StageTime>
}
