/** The trace of a retrieval: ranks, scores and times. */
import type { StoredPassage } from "../../document/Document.ts"
import type { Fusion } from "./Fusion.ts"
import type { PassageRank } from "./RetrievalStage.ts"

/** One recalled passage. Ranks count from 1. */
export interface TracedPassage {
  readonly passage: StoredPassage
  /** Cosine similarity of question and passage, -1 to 1. Hits found only by keywords may have one too. */
  readonly similarity?: number
  /** Rank in vector search. Absent if vector search did not find it. */
  readonly vectorRank?: number
  /** BM25, above 0, and rank in keyword search. Absent if keyword search did not find it. */
  readonly keywordScore?: number
  readonly keywordRank?: number
  /** Rank in the fused list, duplicates included. More passages may be reranked than are recalled. */
  readonly recallRank: number
  /** Score of the fusion: 0 to 1; cosine with `dense`, BM25 with `keywords`. */
  readonly recallScore: number
  /** The reranker's score; higher is better. Absent if it was late. */
  readonly rerankScore?: number
  /** Rank after reranking; in the fused list if the reranker was late. */
  readonly rerankRank: number
  readonly kept: boolean
  /** The kept passage with the same or nearly the same text. */
  readonly sameAs?: string
  /** Ranks in lists of stages that the program registered. */
  readonly places?: { readonly [stage: string]: PassageRank }
}

/** How long a stage took. */
export interface StageTime {
  /** A stage of retrieval, such as `recall`, or of answering: `look` (at figures) and `read`. */
  readonly stage: string
  readonly milliseconds: number
  /** Tokens that a model counted. */
  readonly tokens?: number
  /** What could not be done. The question was answered without it. */
  readonly failed?: string
}

/** All recalled passages in the fused order, and the time of each stage that ran. */
export interface Trace {
  readonly question: string
  readonly collection: string
  readonly embeddingModel: string
  readonly rerankModel: string
  readonly readerModel?: string
  readonly visionModel?: string
  readonly fusion: Fusion
  /** Passages that were reranked. */
  readonly candidates: number
  readonly passages: ReadonlyArray<TracedPassage>
  readonly stages: ReadonlyArray<StageTime>
}
