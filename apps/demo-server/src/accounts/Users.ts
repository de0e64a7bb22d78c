/** The users, and the system access token of each. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { randomUUID } from "node:crypto"
import { Role } from "../contract/Access.ts"
import { Integer } from "../sql/Integer.ts"
import { limitColumns } from "./KeyLimits.ts"
import { hashSecret, makeSystemToken } from "./Secret.ts"

/** A user as kept; `quota` is the balance in quota units. */
export const UserRow = Schema.Struct({
  id: Schema.String,
  username: Schema.String,
  role: Role,
  status: Schema.Literals([0, 1]),
  quota: Integer,
  /** Of each key of theirs, in place of the server's. */
  ...limitColumns,
  created_at: Integer
})
export type UserRow = typeof UserRow.Type

/** What an administrator decides about a user. */
export type UserFields = Pick<UserRow, "username" | "role" | "status"> &
  Partial<Pick<UserRow, keyof typeof limitColumns>>

const decode = Schema.decodeUnknownEffect(Schema.Array(UserRow))

type Asked<A> = Effect.Effect<A, SqlError.SqlError>

export class Users extends Context.Service<
  Users,
  {
    readonly get: (id: string) => Asked<UserRow | undefined>
    /**
     * Whether somebody is an administrator: within a transaction, they stay what they are until it ends, and so does
     * whom they are to change.
     */
    readonly holdAdministrator: (id: string, subject?: string) => Asked<boolean>
    /** Whose system access token it is. */
    readonly bySystemToken: (token: string) => Asked<UserRow | undefined>
    /** A new user, who has no credential yet; undefined where the name is taken. */
    readonly create: (fields: UserFields, quota: number) => Asked<UserRow | undefined>
    /** In the order in which they were made. */
    readonly list: (page: { readonly size: number; readonly skip: number }) => Asked<ReadonlyArray<UserRow>>
    /** Changes the fields given, and adds to the balance, or takes from it; undefined where it cannot. */
    readonly update: (id: string, changes: Partial<UserFields>, add: number) => Asked<UserRow | undefined>
    /**
     * A new system access token in place of this one. Of two that ask at once with the same, one gets it: the other's
     * has ended. With it end the page's sessions that no key opened.
     */
    readonly rotate: (user: string, token: string) => Asked<string | undefined>
    /** A new system access token; one that there was has ended, and so have those sessions, but for this one. */
    readonly renew: (user: string, session?: string) => Asked<string>
  }
>()("@sluice/demo-server/Users") {
  static readonly layer = Layer.effect(
    Users,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = (query: Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError>) =>
        Effect.flatMap(query, (found) => Effect.orDie(decode(found)))
      const first = (query: Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError>) =>
        Effect.map(rows(query), ([user]) => user)
      const endSessions = (user: string, but = "") =>
        sql`DELETE FROM sessions WHERE user_id = ${user} AND token_id IS NULL AND hash <> ${hashSecret(but)}`
      return {
        // A character that PostgreSQL takes in no text.
        get: (id) =>
          id.includes("\0") ? Effect.undefined : first(sql`SELECT * FROM users WHERE id = ${id}`),
        holdAdministrator: Effect.fn("Users.holdAdministrator")(function* (id, subject = id) {
          let holds = false
          // In one order everywhere. Writing locks a row: of two who change each other, the second sees what the first did.
          for (const held of [...new Set([id, subject])].toSorted()) {
            const [row] = yield* sql<Pick<UserRow, "role" | "status">>`UPDATE users SET role = role
              WHERE id = ${held} RETURNING role, status`
            if (held === id) holds = row?.role === "admin" && Number(row.status) === 1
          }
          return holds
        }),
        bySystemToken: (token) =>
          first(sql`SELECT users.* FROM users
            JOIN system_tokens ON system_tokens.user_id = users.id WHERE hash = ${hashSecret(token)}`),
        create: Effect.fn("Users.create")(function* (fields, quota) {
          const id = `user_${randomUUID()}`
          const row = { id, ...fields, quota, granted: quota, created_at: yield* Clock.currentTimeMillis }
          return yield* first(
            sql`INSERT INTO users ${sql.insert(row)} ON CONFLICT (username) DO NOTHING RETURNING *`
          )
        }),
        list: ({ size, skip }) =>
          rows(sql`SELECT * FROM users ORDER BY created_at, id LIMIT ${size} OFFSET ${skip}`),
        update: (id, changes, add) =>
          first(
            sql`UPDATE users SET ${sql.csv([
              ...Object.entries(changes).map(([name, value]) => sql`${sql(name)} = ${value}`),
              sql`quota = quota + ${add}`,
              sql`granted = granted + ${add}`
            ])} WHERE id = ${id} AND quota + ${add} >= 0 AND granted + ${add} <= ${Number.MAX_SAFE_INTEGER}
              RETURNING *`
          ),
        rotate: Effect.fn("Users.rotate")(function* (user, token) {
          const next = makeSystemToken()
          const now = yield* Clock.currentTimeMillis
          const changed = yield* sql`UPDATE system_tokens SET hash = ${hashSecret(next)}, created_at = ${now}
            WHERE user_id = ${user} AND hash = ${hashSecret(token)} RETURNING user_id`
          if (changed.length === 0) return undefined
          yield* endSessions(user)
          return next
        }),
        renew: Effect.fn("Users.renew")(function* (user, session) {
          const next = makeSystemToken()
          const row = { user_id: user, hash: hashSecret(next), created_at: yield* Clock.currentTimeMillis }
          yield* sql`INSERT INTO system_tokens ${sql.insert(row)}
            ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash, created_at = excluded.created_at`
          yield* endSessions(user, session)
          return next
        })
      }
    })
  )
}
