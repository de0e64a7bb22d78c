/** The narrow service that orders documents by relevance to a query. */
import { Context, type Effect } from "effect"
import type { GatewayError } from "../GatewayError.ts"

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
      options?: { readonly topN?: number }
    ) => Effect.Effect<Ranking, GatewayError>
  }
>()("@sluice/core/models/Reranker") {}
