/** What each stage did with a question: ranks, scores and times. */
import type { StoredPassage } from "../../document/Document.ts"
import type { Fusion } from "./Fusion.ts"
import type { Placed } from "./RetrievalStage.ts"

/** One recalled passage and what became of it. Ranks count from 1. */
export interface TracedPassage {
  readonly passage: StoredPassage
  /** Cosine similarity of question and passage, -1 to 1. Hits of keywords alone may have one too. */
  readonly similarity?: number
  /** Rank in vector search; absent where vector search did not find it. */
  readonly vectorRank?: number
  /** BM25, above 0, and rank in keyword search; absent where keyword search did not find it. */
  readonly keywordScore?: number
  readonly keywordRank?: number
  /** Rank in the fused list, duplicates included. More passages may be reranked than are recalled. */
  readonly recallRank: number
  /** Score of the fusion: 0 to 1; cosine with `dense`, BM25 with `keywords`. */
  readonly recallScore: number
  /** The reranker's own range; higher is better. Absent where the deadline passed before it answered. */
  readonly rerankScore?: number
  /** Rank after reranking; in the fused list where the deadline passed. */
  readonly rerankRank: number
  readonly kept: boolean
  /** The kept passage with the same text, or nearly the same. */
  readonly sameAs?: string
  /** Places in lists of stages that the program registered. */
  readonly places?: { readonly [stage: string]: Placed }
}

/** How long a stage took. */
export interface StageTime {
  /** The name of a stage of retrieval, such as `recall`; `look` (at figures) and `read` of the answer. */
  readonly stage: string
  readonly milliseconds: number
  /** Tokens that a model counted. */
  readonly tokens?: number
  /** What could not be done. The answer was made without. */
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
