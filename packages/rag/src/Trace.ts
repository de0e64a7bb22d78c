/** What happened to a question on its way to an answer: every stage, with ranks, scores and times. */
import type { StoredPassage } from "./Document.ts"

/** One recalled passage and what became of it. Ranks count from 1. */
export interface TracedPassage {
  readonly passage: StoredPassage
  /** Cosine similarity of question and passage, -1 to 1. */
  readonly similarity: number
  readonly recallRank: number
  /** The reranker's own range; higher is better. */
  readonly rerankScore: number
  readonly rerankRank: number
  readonly kept: boolean
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

/** All recalled passages in recall order, and the time of each stage. */
export interface Trace {
  readonly question: string
  readonly collection: string
  readonly embeddingModel: string
  readonly rerankModel: string
  readonly readerModel?: string
  readonly visionModel?: string
  readonly passages: ReadonlyArray<TracedPassage>
  readonly stages: ReadonlyArray<StageTime>
}
