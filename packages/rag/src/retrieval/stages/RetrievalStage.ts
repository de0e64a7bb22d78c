/** What a stage of retrieval is, and the state that passes from one stage to the next. */
import type { Embedder, Reranker } from "@sluice/core"
import type { Effect, Option } from "effect"
import type { DocumentInfo, StoredPassage } from "../../document/Document.ts"
import type { RagError } from "../../document/RagError.ts"
import type { Collection, Hit } from "../../store/PassageIndex.ts"
import type { RetrievePlan, StageOption } from "./RetrieveOptions.ts"

/** A passage's place in a list, and the score that gave it. */
export interface Placed {
  /** From 1. Absent where the passage is not among the first that were searched. */
  readonly rank?: number
  readonly score?: number
}

/** A place, without what is undefined; nothing where both are. */
export const placed = (
  list: string,
  rank: number | undefined,
  score: number | undefined
): { readonly [list: string]: Placed } =>
  rank === undefined && score === undefined
    ? {}
    : { [list]: { ...(rank === undefined ? {} : { rank }), ...(score === undefined ? {} : { score }) } }

/** A hit and its score in the fused list: 0 to 1, except with `dense` (cosine) and `keywords` (BM25). */
export interface Fused {
  readonly hit: Hit
  readonly score: number
}

/** Where else in the collection the same text stands. */
export type Place = Pick<StoredPassage, "id" | "document" | "headings" | "start" | "end" | "page">

/** A passage that is kept, with what was asked for besides. */
export interface KeptPassage extends StoredPassage {
  /** Other passages found with the same text, or nearly the same, `ALSO_AT` at most; absent where there are none. */
  readonly alsoAt?: ReadonlyArray<Place>
  /** With `expand: "section"`: the passage and its neighbours under the same headings, in order. */
  readonly section?: ReadonlyArray<StoredPassage>
}

/** A passage that was reranked. */
export interface RankedPassage {
  readonly hit: Hit
  /** Its place in the fused list, duplicates included, from 1, and its score there. */
  readonly recallRank: number
  readonly recallScore: number
  /** The reranker's score; absent where it was late. */
  readonly rerankScore?: number
  /** What the order goes by; absent where the reranker was late. */
  readonly relevance?: number
  /** Its place after reranking, from 1; in the fused list where the reranker was late. */
  readonly rerankRank: number
  /** The kept passage that has the same text, or nearly the same. */
  readonly sameAs?: string
  /** Places in lists of stages that the program registered. */
  readonly places?: { readonly [stage: string]: Placed }
}

/** Which passages have the same text. */
export interface Duplicates {
  /** The texts are nearly equal. */
  readonly alike: (a: StoredPassage, b: StoredPassage) => boolean
  /** The texts are nearly equal and state the same. */
  readonly same: (a: StoredPassage, b: StoredPassage) => boolean
  /** The first of the candidates that is alike, by identifier: the passage itself where it is not a duplicate. */
  readonly firstOf: ReadonlyMap<string, string>
  /** Passages left out of the candidates as duplicates, best first, and the identifier of the first that is alike. */
  readonly dropped: ReadonlyArray<{ readonly passage: StoredPassage; readonly first: string }>
}

/** The time limit for the models of one question. */
export interface Deadline {
  /** None when the effect takes longer than what is left. Without time left, `start: false` does not even run it. */
  readonly limit: <A, E, R>(
    effect: Effect.Effect<A, E, R>,
    options: { readonly start: boolean }
  ) => Effect.Effect<Option.Option<A>, E, R>
  /** The end of a sentence: "at once", "2s after the question". */
  readonly text: string
}

/** What the stages know of one question. Each stage adds to it. */
export interface RetrievalState {
  readonly question: string
  readonly options: RetrievePlan
  readonly collection: Collection
  readonly deadline: Deadline
  /** The question's vector; undefined where it was not embedded, or has no direction. */
  readonly vector: Float32Array | undefined
  /** What the index found. */
  readonly hits: ReadonlyArray<Hit>
  /** The same in the order of the fusion, best first. */
  readonly fused: ReadonlyArray<Fused>
  readonly duplicates: Duplicates
  /** Those that are reranked, in the order of the last stage, best first. */
  readonly candidates: ReadonlyArray<RankedPassage>
  /** How many of the first candidates count as recalled: `recall`, and the duplicates among them. */
  readonly recalled: number
  /** Best first. */
  readonly kept: ReadonlyArray<KeptPassage>
}

/** What a stage changes of the state, and what the trace says of it. */
interface StageResult extends Partial<RetrievalState> {
  /** What could not be done. Retrieval went on without. */
  readonly failed?: string
  /** Tokens that a model counted. */
  readonly tokens?: number
}

/**
 * What became of a passage.
 *
 * - `filtered`: the filter excludes it.
 * - `not found`: no retriever has it among the first `WHY_DEPTH`.
 * - `not recalled`: its rank is below those that were reranked.
 * - `not ranked`: it was reranked, and its rank is below those that were recalled.
 * - `not relevant`: its rerank score is below the minimum.
 * - `same`: another passage with the same text, or nearly the same, stands for it.
 * - `not kept`: recalled and not kept, for its rank or, with `diversity`, for its likeness to others.
 * - `kept`.
 */
export type Outcome =
  | "filtered"
  | "not found"
  | "not recalled"
  | "not ranked"
  | "not relevant"
  | "same"
  | "not kept"
  | "kept"

/** A passage of which `why` asks. */
export interface Explained {
  readonly passage: StoredPassage
  readonly info: DocumentInfo
  /** How a search of depth `WHY_DEPTH` found it. */
  readonly hit: Hit | undefined
}

/** What a stage says of a passage: its places in the stage's lists, and the outcome where this stage decided it. */
export interface StageExplanation {
  readonly places?: { readonly [list: string]: Placed }
  readonly outcome?: Outcome
  /** Why, as a sentence. Comes with `outcome`. */
  readonly sentence?: string
}

/**
 * One stage of retrieval.
 *
 * **Details.** `run` returns what it changes, or nothing where it has nothing to do: it is then not in the trace. `explain`
 * is asked by `why` after all stages have run; the first stage that names an outcome decides.
 */
export interface RetrievalStage {
  /** As the trace names it. */
  readonly name: string
  readonly options?: { readonly [name: string]: StageOption }
  readonly run: (
    state: RetrievalState
  ) => Effect.Effect<StageResult | undefined, RagError, Embedder | Reranker>
  readonly explain?: (state: RetrievalState, of: Explained) => StageExplanation
}
