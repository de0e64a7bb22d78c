/** Checks the options of a question, and applies defaults and limits. */
import type { RerankerModel } from "@sluice/core/models"
import { Duration, Effect, Number, Predicate, Schema } from "effect"
import { formatValue } from "../document/Arguments.ts"
import { RagError, type Stage } from "../document/RagError.ts"
import { FUSION, retrieversOf } from "./stages/Fusion.ts"
import { STAGES } from "./stages/index.ts"
import type { RetrieveOptions, RetrievePlan, StageOption } from "./stages/RetrieveOptions.ts"
import type { RetrievalStage } from "./stages/RetrievalStage.ts"

/** Passages that are recalled: the best after reranking. The trace lists them. */
export const RECALL = 20

/** Passages of these that are kept, and read for the answer. */
export const KEEP = 3

/**
 * Passages that a free reranker in the process orders. From 20 to 40 nDCG@10 rises by .006 and recall@20 by .03
 * (Cranfield); 50 and 100 add nothing.
 */
export const CANDIDATES = 40

/**
 * Share of the candidates that each of two retrievers returns. Together they are enough unless both find the same. With
 * three quarters a question takes .1 to 1.1 ms less of 8.5 (p50, 10,771 passages) and Cranfield loses .003 (nDCG@10);
 * the mean of 27 English collections loses nothing.
 */
const RETRIEVER_SHARE = 0.875

/** All options of some stages. */
export const stageOptions = (stages: ReadonlyArray<RetrievalStage>): Readonly<Record<string, StageOption>> =>
  Object.assign({}, ...stages.map(({ options }) => options))

/** Options as JSON. Unknown ones are refused with `onExcessProperty: "error"`. The deadline is in milliseconds. */
export const retrieveOptionsSchema = (
  stages: ReadonlyArray<RetrievalStage> = STAGES
): Schema.Codec<RetrieveOptions, unknown, never, never> =>
  Schema.Struct(
    Object.fromEntries(
      Object.entries(stageOptions(stages)).map(([name, { schema }]) => [name, Schema.optionalKey(schema)])
    )
  ).annotate({
    messageUnexpectedKey: `Not an option. Options: ${Object.keys(stageOptions(stages)).join(", ")}`
  }) as unknown as Schema.Codec<RetrieveOptions, unknown>

/**
 * The values of the declared options: the question's, then the library's. Fails with `Malformed` for an unknown option and
 * for a value out of its range.
 */
export const checkOptions = Effect.fnUntraced(function* (
  stage: Stage,
  declared: Readonly<Record<string, StageOption>>,
  requested: unknown,
  library: Readonly<Record<string, unknown>> = {}
) {
  const malformed = (message: string) => new RagError({ stage, reason: "Malformed", message })
  const own = requested ?? {}
  if (!Predicate.isObject(own))
    return yield* malformed(`The options are ${formatValue(own)}; expected an object.`)
  const unknown = Object.keys(own).find((name) => !Object.hasOwn(declared, name))
  if (unknown !== undefined) {
    return yield* malformed(
      `${formatValue(unknown)} is not an option. Options: ${Object.keys(declared).join(", ")}.`
    )
  }
  const given: Record<string, unknown> = {}
  for (const [name, { accepts, expected }] of Object.entries(declared)) {
    const asked = (own as Readonly<Record<string, unknown>>)[name]
    // `null` means the library's value, but never for the filter: a question must not become wider by mistake.
    const value = asked === undefined || (asked === null && name !== "filter") ? library[name] : asked
    if (value === undefined || (value === null && name !== "filter")) continue
    if (!accepts(value)) {
      return yield* malformed(
        `${name} is ${formatValue(value)}; expected ${expected}. Change it, or leave it out.`
      )
    }
    given[name] = value
  }
  return given
})

/** Applies a question's options, then the library's, then the defaults, up to the reranker's limits. */
export const resolveOptions = (
  requested: RetrieveOptions | null,
  library: RetrieveOptions,
  declared: Readonly<Record<string, StageOption>>,
  reranker: Pick<RerankerModel, "kind" | "maxDocuments">
): Effect.Effect<RetrievePlan, RagError> =>
  Effect.map(checkOptions("retrieve", declared, requested, { ...library }), (given) =>
    planOf(given, reranker)
  )

const planOf = (
  options: RetrieveOptions,
  { kind, maxDocuments }: Pick<RerankerModel, "kind" | "maxDocuments">
): RetrievePlan => {
  const { deadline, diversity = 0, expand = "none", fusion = FUSION, keep = KEEP } = options
  const limits = { minimum: 1, maximum: maxDocuments }
  const recall = Number.clamp(options.recall ?? Math.max(RECALL, keep), limits)
  const wanted = options.candidates ?? (kind === "lexical" ? CANDIDATES : recall)
  const candidates = Number.clamp(wanted, { ...limits, minimum: recall })
  const { keywords, vector } = retrieversOf(fusion)
  return {
    ...options,
    recall,
    keep: Math.min(keep, recall),
    candidates,
    perRetrieverLimit:
      vector && keywords ? Math.max(recall, Math.ceil(RETRIEVER_SHARE * candidates)) : candidates,
    fusion,
    deadline: deadline === undefined ? undefined : Duration.fromInputUnsafe(deadline),
    diversity,
    expand
  }
}
