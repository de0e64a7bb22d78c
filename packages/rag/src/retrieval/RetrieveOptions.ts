/** What a caller may ask of retrieval, and what is done when nothing is asked. */
import { Duration, Effect, Option, Record, Schema } from "effect"
import { Filter } from "../document/Filter.ts"
import { asks, Fusion } from "./Fusion.ts"
import { shown } from "../document/Given.ts"
import { RagError } from "../document/RagError.ts"

/** Passages that are recalled: those best after reranking. The trace tells what became of each. */
export const RECALL = 20

/** Passages that are kept of them and read for the answer. */
export const KEEP = 3

/**
 * Passages that a reranker in the process looks at to find the recalled ones; it costs nothing. From 20 to 40 nDCG@10
 * rises by .006 and recall@20 by .03 (Cranfield); 50 and 100 add nothing.
 */
export const CANDIDATES = 40

/**
 * Of the candidates each of two ways brings so many: together they are as many or more, unless both find the same. Fewer
 * are read sooner (three quarters: .1 to 1.1 ms of 8.5 at 10,771 passages, p50) and lose nothing in the mean of 27 English
 * collections, but .003 on Cranfield (nDCG@10); with so many nothing is lost.
 */
const WAY_SHARE = 0.875

/** Equal weights: of min-max and reciprocal ranks, with several weights, the best on most collections before reranking. */
export const FUSION: Fusion = Fusion.minMax()

/** What a caller may change, for a library and for each question. What is not set is as the library says. */
export interface RetrieveOptions {
  /** Passages recalled, at least 1. Default `RECALL`, or `keep` where that is more. */
  readonly recall?: number | undefined
  /** Passages kept of them, at least 1, at most `recall`. Default `KEEP`. */
  readonly keep?: number | undefined
  /**
   * Passages at the head of the fused list that the reranker sees at most, in one call. Never fewer than `recall`, never more
   * than the reranker takes. Default `CANDIDATES` where the reranker works in the process, `recall` where each costs.
   */
  readonly candidates?: number | undefined
  /** How the vector's and the keywords' hits become one list. Default `FUSION`. */
  readonly fusion?: Fusion | undefined
  /** Only passages for which it holds. */
  readonly filter?: Filter | undefined
  /** Passages whose rerank score is lower are not kept; the range is the reranker's own. Default: none is left out. */
  readonly minimumRelevance?: number | undefined
  /**
   * How long models may take, from the question on. When the question is not embedded by then, keywords alone are asked,
   * or it fails with `Model` where the fusion asks for vectors alone; when the reranker has not answered, the fused order
   * stands. The trace's stage says `failed`. Default: no end.
   */
  readonly deadline?: Duration.Input | undefined
  /** 0 keeps the best ones, 1 those most unlike each other; between them, maximal marginal relevance. Default 0. */
  readonly diversity?: number | undefined
  /** `section` gives each kept passage with its neighbours under the same headings. Default: none. */
  readonly expand?: "section" | "none" | undefined
}

const count = Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000 })))

/** The same as it comes from outside; the deadline in milliseconds. */
export const RetrieveOptions = {
  schema: Schema.Struct({
    recall: count,
    keep: count,
    candidates: count,
    fusion: Schema.optionalKey(Fusion.schema),
    filter: Schema.optionalKey(Filter.schema),
    minimumRelevance: Schema.optionalKey(Schema.Finite),
    deadline: Schema.optionalKey(Schema.DurationFromMillis),
    diversity: Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))),
    expand: Schema.optionalKey(Schema.Literals(["section", "none"]))
  })
}

const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 1
const COUNT = { holds: isCount, range: "a whole number, 1 or more" }

/** What each may be; `fusion`, `filter` and `deadline` are looked at by themselves. */
const RANGES = {
  recall: COUNT,
  keep: COUNT,
  candidates: COUNT,
  minimumRelevance: {
    holds: (value: unknown) => typeof value === "number" && !Number.isNaN(value),
    range: "a number"
  },
  diversity: {
    holds: (value: unknown) => typeof value === "number" && value >= 0 && value <= 1,
    range: "a number from 0 to 1"
  },
  expand: {
    holds: (value: unknown) => value === "section" || value === "none",
    range: '"section" or "none"'
  }
}

/** What will be done: everything said, and no more than the reranker takes. */
export interface RetrievePlan {
  readonly recall: number
  readonly keep: number
  readonly candidates: number
  /** Passages that are looked for by vector, and as many by keywords. */
  readonly eachWay: number
  readonly fusion: Fusion
  readonly filter: Filter | undefined
  readonly minimumRelevance: number | undefined
  readonly deadline: Duration.Duration | undefined
  readonly diversity: number
  readonly expand: "section" | "none"
}

/**
 * What a caller asks, then what the library says, then what is usual; as far as the reranker goes. What is out of its
 * range, is no option, or is no fusion or deadline fails with `Malformed`.
 */
export const planOf = Effect.fnUntraced(function* (
  asked: RetrieveOptions | null,
  defaults: RetrieveOptions,
  reranker: { readonly kind: "lexical" | "neural"; readonly maxDocuments: number }
) {
  const options = asked ?? {}
  const given = <K extends keyof RetrieveOptions>(key: K) => options[key] ?? defaults[key]
  const fusion = given("fusion") ?? FUSION
  if (fusion !== FUSION && !isFusion(fusion)) {
    return yield* malformed(
      `This is no fusion: ${shown(fusion)}. Fusion.minMax(), Fusion.rrf(), Fusion.dense and Fusion.keywords make one; weights are finite, not below 0, and not both 0.`
    )
  }
  const unknown = Object.keys(options).find((key) => !Object.hasOwn(RetrieveOptions.schema.fields, key))
  if (unknown !== undefined) {
    return yield* malformed(
      `${shown(unknown)} is no option. There are ${Object.keys(RetrieveOptions.schema.fields).join(", ")}.`
    )
  }
  for (const [key, { holds, range }] of Record.toEntries(RANGES)) {
    const value = given(key) ?? undefined
    if (value !== undefined && !holds(value)) {
      return yield* malformed(`${key} is ${shown(value)}, which is not ${range}. Give one, or leave it out.`)
    }
  }
  const keep = given("keep") ?? KEEP
  const recall = within(given("recall") ?? Math.max(RECALL, keep), 1, reranker.maxDocuments)
  const end = given("deadline")
  const deadline =
    end === undefined || Number.isNaN(end) ? undefined : Option.getOrUndefined(Duration.fromInput(end))
  if (end !== undefined && deadline === undefined) {
    return yield* malformed(
      `This is no deadline: ${shown(end)}. Give a Duration, "2 seconds", or a number of milliseconds.`
    )
  }
  const candidates = within(
    given("candidates") ?? (reranker.kind === "lexical" ? CANDIDATES : recall),
    recall,
    reranker.maxDocuments
  )
  const ways = asks(fusion)
  const plan: RetrievePlan = {
    recall,
    keep: Math.min(keep, recall),
    candidates,
    eachWay: ways.vector && ways.keywords ? Math.max(recall, Math.ceil(WAY_SHARE * candidates)) : candidates,
    fusion,
    // Not `null` for the default: what should narrow a question must not be lost on the way.
    filter: options.filter === undefined ? defaults.filter : options.filter,
    minimumRelevance: given("minimumRelevance"),
    deadline,
    diversity: given("diversity") ?? 0,
    expand: given("expand") ?? "none"
  }
  return plan
})

const isFusion = Schema.is(Fusion.schema)

const malformed = (message: string): RagError =>
  new RagError({ stage: "retrieve", reason: "Malformed", message })

const within = (wanted: number, least: number, most: number): number =>
  Math.max(Math.min(least, most), Math.min(wanted, most))
