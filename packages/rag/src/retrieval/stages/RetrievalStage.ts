/** A stage of retrieval, and the state that the stages pass on. */
import type { Embedder, Reranker } from "@sluice/core"
import type { Effect, Option } from "effect"
import type { DocumentInfo, StoredPassage } from "../../document/Document.ts"
import type { RagError } from "../../document/RagError.ts"
import type { Collection, Hit } from "../../store/PassageIndex.ts"
import type { RetrievePlan, StageOption } from "./RetrieveOptions.ts"

/** A passage's rank and score in a list. */
export interface PassageRank {
  /** From 1. Absent if the passage is not among the first that were searched. */
  readonly rank?: number
  readonly score?: number
}

/** An entry for `places`, without undefined values; empty if both are undefined. */
export const rankEntry = (
  list: string,
  rank: number | undefined,
  score: number | undefined
): { readonly [list: string]: PassageRank } =>
  rank === undefined && score === undefined
    ? {}
    : { [list]: { ...(rank === undefined ? {} : { rank }), ...(score === undefined ? {} : { score }) } }

/** A hit and its score in the fused list: 0 to 1, except with `dense` (cosine) and `keywords` (BM25). */
export interface FusedHit {
  readonly hit: Hit
  readonly score: number
}

export type Place = Pick<StoredPassage, "id" | "document" | "headings" | "start" | "end" | "page">

/** A kept passage. */
export interface KeptPassage extends StoredPassage {
  /** The reranker's score, or that of the fused list if it was late. Higher is better; the scale is the model's. */
  readonly score: number
  /** Other passages found with the same or nearly the same text, at most `ALSO_AT`. Absent if there are none. */
  readonly alsoAt?: ReadonlyArray<Place>
  /** With `expand: "section"`: the passage and its neighbours under the same headings, in order. */
  readonly section?: ReadonlyArray<StoredPassage>
}

export interface RankedPassage {
  readonly hit: Hit
  /** Its rank in the fused list, duplicates included, from 1, and its score there. */
  readonly recallRank: number
  readonly recallScore: number
  /** The reranker's score; absent if it was late. */
  readonly rerankScore?: number
  /** The order is by this: the reranker's `relevance`, or its score. Absent if it was late. */
  readonly relevance?: number
  /** Its rank after reranking, from 1; in the fused list if the reranker was late. */
  readonly rerankRank: number
  /** The kept passage with the same or nearly the same text. */
  readonly sameAs?: string
  /** Ranks in lists of stages that the program registered. */
  readonly places?: { readonly [stage: string]: PassageRank }
}

export interface Duplicates {
  /** The texts are nearly equal. */
  readonly alike: (a: StoredPassage, b: StoredPassage) => boolean
  /** The texts are nearly equal and state the same. */
  readonly same: (a: StoredPassage, b: StoredPassage) => boolean
  /** The first candidate with nearly the same text, by identifier: the passage itself if it is not a duplicate. */
  readonly firstOf: ReadonlyMap<string, string>
  /** Passages that are not candidates because they are duplicates, best first, and the first candidate of that text. */
  readonly dropped: ReadonlyArray<{ readonly passage: StoredPassage; readonly first: string }>
}

/** The time limit for the models of one question. */
export interface Deadline {
  /** None if the effect takes longer than the time left. Without time left, `start: false` does not run it. */
  readonly limit: <A, E, R>(
    effect: Effect.Effect<A, E, R>,
    options: { readonly start: boolean }
  ) => Effect.Effect<Option.Option<A>, E, R>
  /** The end of a sentence: "at once", "2s after the question". */
  readonly text: string
}

/** A text that is searched besides the question. */
export interface SearchedText {
  readonly text: string
  readonly vector: Float32Array | undefined
}

/** The state of one retrieval. Each stage adds to it. */
export interface RetrievalState {
  readonly question: string
  readonly options: RetrievePlan
  readonly collection: Collection
  readonly deadline: Deadline
  /** The question's vector. Undefined if it was not embedded, or is zero. */
  readonly vector: Float32Array | undefined
  /** Other wordings of the question, and the question after those before it. They are searched too. */
  readonly wordings: ReadonlyArray<SearchedText>
  readonly hits: ReadonlyArray<Hit>
  /** Passages found by the question after those before it, best first, by identifier. */
  readonly afterPrevious: ReadonlyArray<string>
  /** The hits in the order of the fusion, best first. */
  readonly fused: ReadonlyArray<FusedHit>
  readonly duplicates: Duplicates
  /** The passages that are reranked, in the order of the last stage, best first. */
  readonly candidates: ReadonlyArray<RankedPassage>
  /** How many of the first candidates count as recalled: `recall`, and the duplicates among them. */
  readonly recalled: number
  /** Best first. */
  readonly kept: ReadonlyArray<KeptPassage>
}

/** The changes of the state, and the stage's entries in the trace. */
interface StageResult extends Partial<RetrievalState> {
  /** What could not be done. Retrieval continued without it. */
  readonly failed?: string
  /** Tokens that a model counted. */
  readonly tokens?: number
  /** Texts that were searched besides the question. */
  readonly texts?: ReadonlyArray<string>
}

/** The outcome for a passage. */
export type Outcome =
  | "filtered" // The filter excludes it.
  | "not found" // No retriever has it among the first `WHY_DEPTH`.
  | "not recalled" // Its rank is below those that were reranked.
  | "not ranked" // It was reranked, and its rank is below those that were recalled.
  | "not relevant" // Its rerank score is below the minimum.
  | "same" // Another passage with the same or nearly the same text was kept or reranked instead.
  | "not kept" // Recalled and not kept, because of its rank or, with `diversity`, its similarity to others.
  | "kept"

export interface ExplainedPassage {
  readonly passage: StoredPassage
  readonly info: DocumentInfo
  /** Its hit in a search of depth `WHY_DEPTH`. */
  readonly hit: Hit | undefined
}

/** A stage's explanation: the passage's ranks in its lists, and the outcome if this stage decided it. */
export interface StageExplanation {
  readonly places?: { readonly [list: string]: PassageRank }
  readonly outcome?: Outcome
  readonly sentence?: string
}

/**
 * One stage of retrieval.
 *
 * **Details.** `run` returns its changes, or undefined to be left out of the trace. `why` calls `explain` after all stages
 * have run, and takes the outcome of the first stage that returns one.
 */
export interface RetrievalStage {
  /** Its name in the trace. */
  readonly name: string
  readonly options?: { readonly [name: string]: StageOption }
  readonly run: (
    state: RetrievalState
  ) => Effect.Effect<StageResult | undefined, RagError, Embedder | Reranker>
  readonly explain?: (state: RetrievalState, of: ExplainedPassage) => StageExplanation
}
