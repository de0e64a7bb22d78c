/** The users, and the system access token of each. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Integer } from "../sql/Integer.ts"
import { hashSecret, makeSystemToken } from "./Secret.ts"

/** A user as kept; `quota` is the balance in quota units. */
export const UserRow = Schema.Struct({ id: Schema.String, username: Schema.String, quota: Integer })
export type UserRow = typeof UserRow.Type

const decode = Schema.decodeUnknownEffect(Schema.Array(UserRow))

type Asked<A> = Effect.Effect<A, SqlError.SqlError>

export class Users extends Context.Service<
  Users,
  {
    readonly get: (id: string) => Asked<UserRow | undefined>
    /** Whose system access token it is. */
    readonly bySystemToken: (token: string) => Asked<UserRow | undefined>
    /**
     * A new system access token in place of this one. Of two that ask at once with the same, one gets it: the other's
     * has ended.
     */
    readonly rotate: (user: string, token: string) => Asked<string | undefined>
  }
>()("@sluice/demo-server/Users") {
  static readonly layer = Layer.effect(
    Users,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const first = (query: Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError>) =>
        query.pipe(
          Effect.flatMap((rows) => Effect.orDie(decode(rows))),
          Effect.map(([user]) => user)
        )
      return {
        get: (id) => first(sql`SELECT id, username, quota FROM users WHERE id = ${id}`),
        bySystemToken: (token) =>
          first(sql`SELECT users.id, username, quota FROM users
            JOIN system_tokens ON system_tokens.user_id = users.id WHERE hash = ${hashSecret(token)}`),
        rotate: Effect.fn("Users.rotate")(function* (user, token) {
          const next = makeSystemToken()
          const now = yield* Clock.currentTimeMillis
          const changed = yield* sql`UPDATE system_tokens SET hash = ${hashSecret(next)}, created_at = ${now}
            WHERE user_id = ${user} AND hash = ${hashSecret(token)} RETURNING user_id`
          return changed.length === 0 ? undefined : next
        })
      }
    })
  )
}
