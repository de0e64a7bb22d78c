/** The plan of the rebuilds of several collections. */
import type { RebuildPlan } from "@sluice/rag/store"

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
