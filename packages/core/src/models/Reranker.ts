/** The narrow service that orders documents by relevance to a query. */
import { Context, type Effect } from "effect"
import type { GatewayError } from "../contract/GatewayError.ts"

/** What a program may want to know of a rerank model before it uses it. */
export interface RerankerModel {
  readonly id: string
  readonly kind: "lexical" | "neural"
  /** Documents of one request at most. */
  readonly maxDocuments: number
}

/** A document to be ranked. `title` is its title or path of headings; models that take only text get both joined. */
export interface Candidate {
  readonly title?: string
  readonly text: string
}

/** What a caller may add to a query and its documents. */
export interface RerankHints {
  /** So many of the best come back at most. */
  readonly topN?: number
  /**
   * What is thought of each document before it is read, 0 to 1, in the order given: how well words of the whole
   * collection find it, for one. A model may look at it, and ranks without it as well.
   */
  readonly priors?: ReadonlyArray<number>
}

/** One document's place in a ranking: `index` into the documents given, `score` higher is better, model's own range. */
export interface Ranked {
  readonly index: number
  readonly score: number
}

/** Best first; every document once, unless `topN` asked for fewer. */
export interface Ranking {
  readonly results: ReadonlyArray<Ranked>
  readonly tokens: number
}

/**
 * Orders documents by relevance to a query, in one request.
 *
 * **Details.** Indices only: the caller maps them back to its documents, so that what belongs to them survives.
 * Equal scores keep the order given. No documents give an empty ranking without a request.
 */
export class Reranker extends Context.Service<
  Reranker,
  {
    readonly model: RerankerModel
    readonly rerank: (
      query: string,
      documents: ReadonlyArray<Candidate>,
      options?: RerankHints
    ) => Effect.Effect<Ranking, GatewayError>
  }
>()("@sluice/core/models/Reranker") {}
