/** The plan of a rebuild: what it would embed, cost and take. */
import { Effect } from "effect"
import { withText } from "../chunking/ChunkedParse.ts"
import type { PassageEmbedder } from "../embedding/PassageEmbedder.ts"
import type { Collection } from "../store/PassageIndex.ts"
import type { IngestPlan, PlanOptions } from "./IngestPlan.ts"
import { makeTextCounter } from "./TextCounter.ts"

/**
 * What `Library.rebuild` would embed, as of an ingest.
 *
 * **Gotchas.** It counts the stored passages. Another chunker makes other passages, so that the plan is an estimate then. What
 * a rebuild that was stopped has already written is counted too.
 */
export interface RebuildPlan extends Pick<
  IngestPlan,
  "passages" | "texts" | "cached" | "calls" | "tokens" | "cost" | "seconds"
> {
  readonly documents: number
}

/** Documents that are read at the same time. */
const CONCURRENT_READS = 8

/** Documents whose passages are looked up in the cache together. */
const DOCUMENTS_PER_LOOKUP = 100

export const planRebuild = Effect.fn("RebuildPlan.make")(function* (
  current: Collection | undefined,
  embedder: PassageEmbedder,
  options: PlanOptions
) {
  const documents = current === undefined ? [] : yield* current.documents
  const counter = yield* makeTextCounter(embedder, options)
  for (let i = 0; i < documents.length; i += DOCUMENTS_PER_LOOKUP) {
    const passages = yield* Effect.forEach(
      documents.slice(i, i + DOCUMENTS_PER_LOOKUP),
      ({ id }) => current!.passages(id),
      { concurrency: CONCURRENT_READS }
    )
    yield* counter.add(passages.flat().map((passage) => withText(passage.document.title, passage)))
  }
  const plan: RebuildPlan = { documents: documents.length, ...(yield* counter.totals) }
  return plan
})

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((a, b) => a + b, 0)

/** Undefined if one of them is. */
const sumKnown = <A>(values: ReadonlyArray<A | undefined>, add: (known: ReadonlyArray<A>) => A) => {
  const known = values.filter((value) => value !== undefined)
  return known.length === values.length && known.length > 0 ? add(known) : undefined
}

const sumEstimates = (estimates: ReadonlyArray<RebuildPlan["tokens"]>) => ({
  estimated: sum(estimates.map(({ estimated }) => estimated)),
  atMost: sum(estimates.map(({ atMost }) => atMost))
})

/** The plan of several rebuilds together. Cost and time are absent if one of them has none. */
export const sumPlans = (plans: ReadonlyArray<RebuildPlan>): RebuildPlan => {
  const of = (count: "documents" | "passages" | "texts" | "cached" | "calls") =>
    sum(plans.map((plan) => plan[count]))
  const cost = sumKnown(
    plans.map((plan) => plan.cost),
    sumEstimates
  )
  const seconds = sumKnown(
    plans.map((plan) => plan.seconds),
    sum
  )
  return {
    documents: of("documents"),
    passages: of("passages"),
    texts: of("texts"),
    cached: of("cached"),
    calls: of("calls"),
    tokens: sumEstimates(plans.map(({ tokens }) => tokens)),
    ...(cost !== undefined && { cost }),
    ...(seconds !== undefined && { seconds })
  }
}
