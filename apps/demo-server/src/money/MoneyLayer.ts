/** Everything about money, over the accounts' database. */
import { Layer } from "effect"
import { Charges } from "./Charges.ts"
import { Ledger } from "./Ledger.ts"
import { Prices } from "./Prices.ts"

export const MoneyLayer = Charges.layer.pipe(Layer.provideMerge(Layer.mergeAll(Ledger.layer, Prices.layer)))
