/** The options of the built-in stages, and the declaration of options. */
import { Duration, Option, Schema } from "effect"
import type { Filter } from "../../document/Filter.ts"
import type { Fusion } from "./Fusion.ts"

/**
 * Options of a library and of each question. An option of the question replaces the library's.
 *
 * **Details.** A program that registers a stage with options adds their types by augmentation:
 * `declare module "@sluice/rag" { interface RetrieveOptions { readonly boost?: number } }`.
 */
export interface RetrieveOptions {
  /** Passages recalled, at least 1. Default `RECALL`, or `keep` if that is larger. */
  readonly recall?: number | undefined
  /** Passages of these that are kept, at least 1, at most `recall`. Default `KEEP`. */
  readonly keep?: number | undefined
  /**
   * Passages of the fused list that are reranked, in one call: at least `recall`, at most what the reranker accepts.
   * Default `CANDIDATES` for a lexical reranker, `recall` for a neural one.
   */
  readonly candidates?: number | undefined
  /** How the hits of vector search and keyword search are fused. Default `FUSION`. */
  readonly fusion?: Fusion | undefined
  /** Searches only passages that match. */
  readonly filter?: Filter | undefined
  /** Passages with a lower rerank score are not kept. The range depends on the reranker. Default: no minimum. */
  readonly minimumRelevance?: number | undefined
  /**
   * Time for the models, from the start of the retrieval. If the embedding is late, only keywords are searched; a fusion
   * without keywords fails with `Model`. If the reranker is late, the fused order is used. The stage's `failed` in the trace
   * says so. Default: no limit.
   */
  readonly deadline?: Duration.Input | undefined
  /** Maximal marginal relevance: 0 keeps the most relevant passages, 1 the most different ones. Default 0. */
  readonly diversity?: number | undefined
  /**
   * Also searches by the vector of a passage that a chat model imagines as the answer (HyDE): one chat for each question. Needs
   * a `QuestionRewriter` with `generate`, as the next one. Default false.
   */
  readonly hyde?: boolean | undefined
  /** Also searches this many other wordings of the question, 0 to 4, by a chat model: one chat. Default 0. */
  readonly queries?: number | undefined
  /**
   * The questions before this one in a conversation. They are searched together with it, and about half of the recalled
   * passages that are not kept are from that search. The reranker sees the question alone. Default: none.
   */
  readonly previous?: string | undefined
  /** `section` returns each kept passage with its neighbours under the same headings. Default `none`. */
  readonly expand?: "section" | "none" | undefined
}

/** A value whose undefined fields are left out. */
export type Defined<A> = { readonly [K in keyof A]: Exclude<A[K], undefined> }

type WithDefault = "recall" | "keep" | "candidates" | "fusion" | "diversity" | "expand"

/** The options of one retrieval after defaults and limits are applied. */
export interface RetrievePlan
  extends Omit<RetrieveOptions, WithDefault>, Defined<Required<Pick<RetrieveOptions, WithDefault>>> {
  /** Hits taken from vector search and from keyword search, each. */
  readonly perRetrieverLimit: number
  readonly deadline: Duration.Duration | undefined
}

/** An option that a stage declares. */
export interface StageOption {
  /** How it is written as JSON: in an HTTP request, on the command line, in a file. */
  readonly schema: Schema.Codec<unknown, unknown>
  /** Whether a program may pass this value. */
  readonly accepts: (value: unknown) => boolean
  /** Completes "expected …" in the error message. */
  readonly expected: string
}

/** Declares an option. Without `accepts`, a program may pass what `schema` decodes to. */
export const stageOption = <A, I>(
  schema: Schema.Codec<A, I>,
  expected: string,
  accepts: (value: unknown) => boolean = Schema.is(Schema.toType(schema))
): StageOption => ({ schema: schema as unknown as StageOption["schema"], accepts, expected })

/** A count of passages. JSON allows at most 1,000. */
export const countOption = stageOption(
  Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000 })),
  "a whole number, 1 or more",
  (value) => Number.isInteger(value) && Number(value) >= 1
)

/** A time. JSON has it in milliseconds. */
export const durationOption = stageOption(
  Schema.DurationFromMillis,
  'a Duration, "2 seconds", or a number of milliseconds',
  (value) => !Number.isNaN(value) && Option.isSome(Duration.fromInput(value as Duration.Input))
)
