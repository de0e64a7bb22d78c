/** Everything about money, over the accounts' database. */
import { Layer } from "effect"
import { Charges } from "./Charges.ts"
import { Ledger } from "./Ledger.ts"
import { Prices } from "./Prices.ts"
import { Retention } from "./Retention.ts"

export const MoneyLayer = Layer.merge(Charges.layer, Retention.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(Ledger.layer, Prices.layer))
)
