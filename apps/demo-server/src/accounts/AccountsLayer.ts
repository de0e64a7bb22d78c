/** Everything about accounts, over their database. */
import { Layer } from "effect"
import { Accounts } from "./Accounts.ts"
import { ApiKeys } from "./ApiKeys.ts"
import { Audit } from "./Audit.ts"
import { DatabaseLayer } from "./Database.ts"
import { Users } from "./Users.ts"

export const AccountsLayer = Layer.mergeAll(Accounts.layer, ApiKeys.layer, Audit.layer, Users.layer).pipe(
  Layer.provideMerge(DatabaseLayer)
)
