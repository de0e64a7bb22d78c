/** A key as a step of the transaction that spends by it: what was changed before is seen, by whichever server. */
import { ask, type Asking } from "../sql/SqlStep.ts"
import type { HeldKey } from "./ApiKeys.ts"
import type { SaidLimits } from "./KeyLimits.ts"

/** What decides whether a key may be used, and for what. */
export interface SpendingKey
  extends Pick<HeldKey, "id" | "user_id" | "status" | "user_status" | "expires_at" | "subnet">, SaidLimits {
  readonly models: ReadonlyArray<string> | null
}

interface Row extends Omit<SpendingKey, "models"> {
  readonly models: string | null
}

/** The key of a hash. */
export function* keyOf(hash: string): Asking<SpendingKey | undefined> {
  const [row] = yield* ask<Row>(
    `SELECT tokens.id, tokens.user_id, tokens.status, tokens.expires_at, tokens.subnet, tokens.models,
        tokens.requests_per_minute, tokens.tokens_per_minute, users.status AS user_status,
        users.requests_per_minute AS user_requests_per_minute, users.tokens_per_minute AS user_tokens_per_minute
      FROM tokens JOIN users ON users.id = tokens.user_id WHERE tokens.hash = ?`,
    hash
  )
  if (row === undefined) return undefined
  return { ...row, models: row.models === null ? null : (JSON.parse(row.models) as ReadonlyArray<string>) }
}
