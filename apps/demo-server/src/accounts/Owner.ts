/** The owner: the first administrator. */
import { UNITS_PER_USD } from "@sluice/core"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { serializable } from "../sql/Transaction.ts"

/** The owner's id and username. */
export const OWNER = "owner"

/** The first balance of the owner and of the first key: 1,000 USD. */
const FIRST_QUOTA = 1_000 * UNITS_PER_USD

/** Whether there are any users. */
export const hasUsers = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql`SELECT 1 FROM users LIMIT 1`).length > 0
})

/** Adds the owner with the hashes of an API key and a system access token. Does nothing and returns false if there are users. */
export const addOwner = Effect.fn("Owner.add")(function* (hashes: {
  readonly apiKey: string
  readonly accessToken: string
  /** The masked key, for lists. */
  readonly shown: string
}) {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  const add = Effect.gen(function* () {
    if (yield* hasUsers) return false
    yield* sql`INSERT INTO users ${sql.insert({ id: OWNER, username: OWNER, role: "admin", quota: FIRST_QUOTA, granted: FIRST_QUOTA, created_at: now })}`
    yield* sql`INSERT INTO system_tokens ${sql.insert({ user_id: OWNER, hash: hashes.accessToken, created_at: now })}`
    yield* sql`INSERT INTO tokens ${sql.insert({
      user_id: OWNER,
      name: "first",
      hash: hashes.apiKey,
      shown: hashes.shown,
      status: 1,
      expires_at: null,
      remain_quota: FIRST_QUOTA,
      subnet: "",
      created_at: now
    })}`
    return true
  })
  return yield* serializable(add)
})
