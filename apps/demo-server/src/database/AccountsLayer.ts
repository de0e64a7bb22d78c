/** Everything about accounts, over their database. */
import { Layer } from "effect"
import { Accounts } from "../accounts/Accounts.ts"
import { ApiKeys } from "../accounts/ApiKeys.ts"
import { Audit } from "../accounts/Audit.ts"
import { DatabaseLayer } from "./Database.ts"
import { Users } from "../accounts/Users.ts"

export const AccountsLayer = Layer.mergeAll(Accounts.layer, ApiKeys.layer, Audit.layer, Users.layer).pipe(
  Layer.provideMerge(DatabaseLayer)
)
