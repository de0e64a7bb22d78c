/** Retrieval explained: why a document was found or not, and what another configuration would change. */
import type { Effect } from "effect"
import { type Change, makeCompare } from "./Compare.ts"
import type { Collection } from "../store/PassageIndex.ts"
import type { RagError } from "../document/RagError.ts"
import type { RetrieveOptions } from "./RetrieveOptions.ts"
import type { Retriever } from "./Retriever.ts"
import { makeWhy, type Why } from "./Why.ts"

/** What a library tells of its retrieval. */
export interface Explain {
  /**
   * What became of each passage of a document for a question: its rank and score at every stage, and what decided.
   * Costs one retrieval. Fails with `NotFound` for an unknown document.
   */
  readonly why: (
    documentId: string,
    question: string,
    options?: RetrieveOptions
  ) => Effect.Effect<Why, RagError>
  /** Which passages two configurations keep, question by question. Costs two retrievals each. */
  readonly compare: (
    questions: ReadonlyArray<string>,
    a: RetrieveOptions,
    b: RetrieveOptions
  ) => Effect.Effect<Change, RagError>
}

export const makeExplain = (
  collection: Effect.Effect<Collection, RagError>,
  retriever: Retriever
): Explain => ({ why: makeWhy(collection, retriever), compare: makeCompare(retriever) })
