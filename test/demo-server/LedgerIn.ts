/** The ledger over the accounts of a data folder or PostgreSQL, with one user and one key. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ConfigProvider, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseLayer } from "../../apps/demo-server/src/database/Database.ts"
import { ServerConfig } from "../../apps/demo-server/src/config/ServerConfig.ts"
import { GroupCommit } from "../../apps/demo-server/src/sql/GroupCommit.ts"
import { temporaryFolder } from "./TestServer.ts"
import { Ledger, type ReservationRequest } from "../../apps/demo-server/src/billing/Ledger.ts"

export const ledgerIn = (data: string, env: Record<string, string>) =>
  Ledger.layer.pipe(
    Layer.provideMerge(DatabaseLayer),
    Layer.provide(ServerConfig.layer),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ SLUICE_DATA: data, ...env }))),
    Layer.provide(NodeServices.layer)
  )

/** Runs a test on the ledger of a data folder of its own. `store` is the environment of its database. */
export const withLedger = <A, E, R, E2, R2>(
  store: Effect.Effect<Record<string, string>, E2, R2>,
  test: Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const data = yield* temporaryFolder
    return yield* Effect.provide(test, ledgerIn(data, yield* store))
  }).pipe(Effect.scoped)

/** Adds a user with a key. Returns the key's id. */
export const addUser = Effect.fnUntraced(function* (
  user: string,
  { quota, remaining = quota }: { readonly quota: number; readonly remaining?: number }
) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO users ${sql.insert({ id: user, username: user, role: "user", quota, granted: quota, created_at: 0 })}`
  const [row] = yield* sql<{ id: number }>`INSERT INTO tokens ${sql.insert({
    user_id: user,
    name: "k",
    hash: `hash of ${user}`,
    shown: "sk-",
    status: 1,
    expires_at: null,
    remain_quota: remaining,
    subnet: "",
    created_at: 0
  })} RETURNING id`
  return Number(row?.id)
})

/** The balances of the user and the key, once the reservations before are committed. */
export const balances = Effect.fnUntraced(function* (user: string) {
  const sql = yield* SqlClient.SqlClient
  const { commit } = yield* GroupCommit
  yield* commit(function* () {})
  const [row] = yield* sql<{ quota: number; remain_quota: number }>`SELECT quota, remain_quota FROM users
    JOIN tokens ON tokens.user_id = users.id WHERE users.id = ${user}`
  return { user: Number(row?.quota), key: Number(row?.remain_quota) }
})

/** A call for one unit. */
export const requestOf = (
  user: string,
  key: number,
  more: Partial<ReservationRequest> = {}
): ReservationRequest => ({
  user,
  key,
  operation: "embeddings",
  model: "m",
  units: 1,
  tokens: 10,
  creates: false,
  limits: { requestsPerMinute: undefined, tokensPerMinute: undefined },
  ...more
})
