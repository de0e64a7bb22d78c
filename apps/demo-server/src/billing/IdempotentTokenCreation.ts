/** Creates one API key for each `Idempotency-Key`. The secret is never shown twice. */
import { Failure } from "@sluice/core/contract"
import { Clock, Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { catchSqlError } from "../sql/StoreFailure.ts"
import { runEffect } from "../sql/SqlStep.ts"
import { readCommitted } from "../sql/Transaction.ts"
import { claimKey, type Idempotency, storeResponse } from "./Idempotency.ts"

const alreadyCreated = (id: string) =>
  new Failure({
    status: 409,
    message: `This Idempotency-Key already created a token. GET /api/token/${id} shows it without its key. If you lost the key, delete the token and create another`,
    param: "idempotency-key",
    code: "token_already_created"
  })

/**
 * Creates a key in the transaction that claims its `Idempotency-Key`.
 *
 * **Details.** A repeated request fails with 409. The message has the id of the token, not its secret.
 */
export const makeIdempotentCreation = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return <A extends { readonly row: { readonly id: number } }>(
    user: string,
    idempotency: Idempotency | undefined,
    make: Effect.Effect<A, SqlError.SqlError>
  ): Effect.Effect<A, Failure> => {
    if (idempotency === undefined) return catchSqlError(make)
    // Used as the id of a charge.
    const token = `token ${idempotency.name}`
    const step = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const known = yield* runEffect(sql, () => claimKey(user, idempotency, token, now))
      if (known !== undefined) return { known }
      const made = yield* make
      const replay = { contentType: "token", answer: String(made.row.id) }
      yield* runEffect(sql, () => storeResponse(token, user, replay))
      return { made }
    })
    return readCommitted(step).pipe(
      Effect.provideService(SqlClient.SqlClient, sql),
      catchSqlError,
      Effect.flatMap((result): Effect.Effect<A, Failure> => {
        if (result.known === undefined) return Effect.succeed(result.made)
        return Effect.fail("answer" in result.known ? alreadyCreated(result.known.answer) : result.known)
      })
    )
  }
})
