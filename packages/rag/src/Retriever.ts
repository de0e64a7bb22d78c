/** From a question to the passages that most likely answer it, and how they were found. */
import type { StoredPassage } from "./Document.ts"
import type { Trace } from "./Trace.ts"

/** Passages that are recalled by embeddings before the reranker orders them. */
export const RECALL = 20

/** Passages that are kept after reranking and read for the answer. */
export const KEEP = 3

/** Numbers that a caller may change. */
export interface RetrieveOptions {
  /** Passages recalled, at least 1. Default `RECALL`. */
  readonly recall?: number
  /** Passages kept of them, at least 1. Default `KEEP`. */
  readonly keep?: number
}

/** The passages kept, best first, and the trace of all that were recalled. */
export interface Retrieval {
  readonly kept: ReadonlyArray<StoredPassage>
  readonly trace: Trace
}
