/** Warns of models without a price of their own: they cost what their operation costs by default. */
import { Effect } from "effect"
import { Prices } from "../billing/Prices.ts"
import type { Provider } from "../routing/Provider.ts"

/** Names each model once. */
export const makePriceWarning = Effect.map(Prices, ({ isNamed }) => {
  const warned = new Set<string>()
  return Effect.fnUntraced(function* (providers: ReadonlyArray<Provider>) {
    const served = new Set(providers.flatMap(({ models }) => models.map(({ id }) => id)))
    const unpriced = [...served].filter((id) => !isNamed(id) && !warned.has(id))
    if (unpriced.length === 0) return
    for (const id of unpriced) warned.add(id)
    const advice =
      "They cost what their operation costs by default. Name their prices in the file of SLUICE_PRICES"
    yield* Effect.logWarning(`These models have no price of their own: ${unpriced.join(", ")}. ${advice}`)
  })
})
