/** The users and their system access tokens. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { Role } from "../contract/Access.ts"
import { Integer } from "../sql/Integer.ts"
import { tableRows } from "../sql/Rows.ts"
import { limitColumns } from "./KeyLimits.ts"
import { hashSecret, makeSystemToken } from "./Secret.ts"

/** A stored user. `quota` is the balance in quota units. */
export const UserRow = Schema.Struct({
  id: Schema.String,
  username: Schema.String,
  role: Role,
  status: Schema.Literals([0, 1]),
  quota: Integer,
  /** Limits of each of the user's keys, in place of the server's. */
  ...limitColumns,
  created_at: Integer
})
export type UserRow = typeof UserRow.Type

/** The fields that an administrator sets. */
export type UserFields = Pick<UserRow, "username" | "role" | "status"> &
  Partial<Pick<UserRow, keyof typeof limitColumns>>

const { first, rows } = tableRows(UserRow)

/** A part of a list. */
export interface ListPage {
  readonly size: number
  readonly skip: number
}

export class Users extends Context.Service<Users>()("@sluice/demo-server/Users", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const endSessions = (user: string, except = "") =>
      sql`DELETE FROM sessions WHERE user_id = ${user} AND token_id IS NULL AND hash <> ${hashSecret(except)}`
    /** Replaces any system access token and ends the user's sessions that no API key opened, except `session`. */
    const replaceToken = Effect.fn("Users.replaceToken")(function* (user: string, session?: string) {
      const next = makeSystemToken()
      const row = { user_id: user, hash: hashSecret(next), created_at: yield* Clock.currentTimeMillis }
      yield* sql`INSERT INTO system_tokens ${sql.insert(row)}
          ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash, created_at = excluded.created_at`
      yield* endSessions(user, session)
      return next
    })
    return {
      // PostgreSQL rejects NUL in text.
      get: (id: string) =>
        id.includes("\0") ? Effect.undefined : first(sql`SELECT * FROM users WHERE id = ${id}`),
      /** Whether a user is an enabled administrator. Locks the rows of the user and of `subject` for the transaction. */
      lockAdministrator: Effect.fn("Users.lockAdministrator")(function* (id: string, subject = id) {
        let isAdministrator = false
        // A write locks the row. Sorted, so that two administrators who change each other do not deadlock.
        for (const locked of [...new Set([id, subject])].toSorted()) {
          const [row] = yield* sql<Pick<UserRow, "role" | "status">>`UPDATE users SET role = role
              WHERE id = ${locked} RETURNING role, status`
          if (locked === id) isAdministrator = row?.role === "admin" && Number(row.status) === 1
        }
        return isAdministrator
      }),
      bySystemToken: (token: string) =>
        first(sql`SELECT users.* FROM users
            JOIN system_tokens ON system_tokens.user_id = users.id WHERE hash = ${hashSecret(token)}`),
      /** Creates a user without credentials; undefined if the name is taken. */
      create: Effect.fn("Users.create")(function* (fields: UserFields, quota: number) {
        const id = `user_${randomUUID()}`
        const row = { id, ...fields, quota, granted: quota, created_at: yield* Clock.currentTimeMillis }
        return yield* first(
          sql`INSERT INTO users ${sql.insert(row)} ON CONFLICT (username) DO NOTHING RETURNING *`
        )
      }),
      /** Oldest first. */
      list: ({ size, skip }: ListPage) =>
        rows(sql`SELECT * FROM users ORDER BY created_at, id LIMIT ${size} OFFSET ${skip}`),
      /** Changes the given fields and adds `add` to the balance; undefined if the balance would be out of range. */
      update: (id: string, changes: Partial<UserFields>, add: number) =>
        first(
          sql`UPDATE users SET ${sql.csv([
            ...Object.entries(changes).map(([name, value]) => sql`${sql(name)} = ${value}`),
            sql`quota = quota + ${add}`,
            sql`granted = granted + ${add}`
          ])} WHERE id = ${id} AND quota + ${add} >= 0 AND granted + ${add} <= ${Number.MAX_SAFE_INTEGER}
              RETURNING *`
        ),
      /**
       * Replaces the given system access token, in the transaction of its caller; undefined if it is not the current one.
       */
      rotateToken: Effect.fn("Users.rotateToken")(function* (user: string, token: string) {
        const removed = yield* sql`DELETE FROM system_tokens
            WHERE user_id = ${user} AND hash = ${hashSecret(token)} RETURNING user_id`
        return removed.length === 0 ? undefined : yield* replaceToken(user)
      }),
      replaceToken
    }
  })
}) {
  static readonly layer = Layer.effect(Users, Users.make)
}
