/** What happened to a question on its way to an answer: every stage, with ranks, scores and times. */
import type { StoredPassage } from "../document/Document.ts"
import type { Fusion } from "./Fusion.ts"

/** One recalled passage and what became of it. Ranks count from 1. */
export interface TracedPassage {
  readonly passage: StoredPassage
  /** Cosine similarity of question and passage, -1 to 1; of what keywords alone found, where it was compared besides. */
  readonly similarity?: number
  /** Its place among those that the vector found; absent where the vector did not find it. */
  readonly vectorRank?: number
  /** BM25, above 0, and its place among those that keywords found; absent where they did not find it. */
  readonly keywordScore?: number
  readonly keywordRank?: number
  /** Its place in the fused list, copies and all. The reranker may have looked at more passages than are recalled. */
  readonly recallRank: number
  /** What the fusion made of both: 0 to 1, cosine with `dense`, BM25 with `keywords`. */
  readonly recallScore: number
  /** The reranker's own range; higher is better. Absent where the deadline passed before it answered. */
  readonly rerankScore?: number
  /**
   * Its place after reranking, or in the fused order where the deadline passed. Beside a lexical reranker's score a part
   * of the keywords' counts, so that `rerankScore` need not fall from place to place.
   */
  readonly rerankRank: number
  readonly kept: boolean
  /** The kept passage that says the same, or that is alike where two such are kept. */
  readonly sameAs?: string
}

/** How long each stage took. */
export interface StageTime {
  readonly stage: "embed" | "recall" | "rerank" | "look" | "read"
  readonly milliseconds: number
  /** What it cost, where a model counted. */
  readonly tokens?: number
  /** What could not be done, where the rest went on without. */
  readonly failed?: string
}

/** All recalled passages in the fused order, and the time of each stage. */
export interface Trace {
  readonly question: string
  readonly collection: string
  readonly embeddingModel: string
  readonly rerankModel: string
  readonly readerModel?: string
  readonly visionModel?: string
  readonly fusion: Fusion
  /** Passages that the reranker looked at. */
  readonly candidates: number
  readonly passages: ReadonlyArray<TracedPassage>
  readonly stages: ReadonlyArray<StageTime>
}
