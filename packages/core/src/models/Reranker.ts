/** The service that orders documents by relevance to a query. */
import { Context, type Effect } from "effect"
import type { GatewayError } from "../contract/GatewayError.ts"

/** A rerank model. */
export interface RerankerModel {
  readonly id: string
  readonly kind: "lexical" | "neural"
  /** The most documents of one request. */
  readonly maxDocuments: number
}

/** A document to be ranked. `title` is its title or path of headings; models that take only text get both joined. */
export interface Candidate {
  readonly title?: string
  readonly text: string
}

/** Options of a rerank call. */
export interface RerankOptions {
  /** Return at most this many, best first. */
  readonly topN?: number
  /**
   * A prior relevance of each document, 0 to 1, in order, such as its normalised BM25 score in the collection. Models that
   * use it to order the documents return a `relevance`; the others ignore it.
   */
  readonly priors?: ReadonlyArray<number>
}

/** A ranked document. `index` is its position in the request. Higher is better. */
export interface RankedDocument {
  readonly index: number
  readonly score: number
  /** What the order is by, if it is not `score`: the score combined with the prior. */
  readonly relevance?: number
}

/** The documents by relevance. */
export interface Ranking {
  /** Best first, each document once, at most `topN`. */
  readonly results: ReadonlyArray<RankedDocument>
  readonly tokens: number
}

/**
 * Orders documents by relevance to a query, in one request.
 *
 * **Details.** Returns indices; the caller maps them back to its documents, which keeps their metadata.
 * Equal scores keep the order given. No documents give an empty ranking without a request.
 */
export class Reranker extends Context.Service<
  Reranker,
  {
    readonly model: RerankerModel
    readonly rerank: (
      query: string,
      documents: ReadonlyArray<Candidate>,
      options?: RerankOptions
    ) => Effect.Effect<Ranking, GatewayError>
  }
>()("@sluice/core/models/Reranker") {}
