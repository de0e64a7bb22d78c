/** The API keys of the users, which the paths call tokens. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Integer } from "../sql/Integer.ts"
import { hashSecret, makeApiKey, shownOf } from "./Secret.ts"

/** A key as it is kept: never the key itself. */
export const KeyRow = Schema.Struct({
  id: Integer,
  user_id: Schema.String,
  name: Schema.String,
  shown: Schema.String,
  status: Schema.Literals([0, 1]),
  /** Epoch milliseconds; null: never. */
  expires_at: Schema.NullOr(Integer),
  remain_quota: Integer,
  subnet: Schema.String,
  created_at: Integer
})
export type KeyRow = typeof KeyRow.Type

/** What a user may decide about a key. */
export type KeyFields = Pick<KeyRow, "name" | "status" | "expires_at" | "remain_quota" | "subnet">

const decodeRows = Schema.decodeUnknownEffect(Schema.Array(KeyRow))

/** Rows that are not what they should be are a fault of ours. */
const rows = <R>(query: Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError, R>) =>
  Effect.flatMap(query, (found) => Effect.orDie(decodeRows(found)))

const first = <R>(query: Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError, R>) =>
  Effect.map(rows(query), ([row]) => row)

/** The text as part of a pattern in which `!` escapes: `%` and `_` stand for themselves. */
const literally = (text: string): string => text.replaceAll(/[!%_]/g, "!$&")

type Asked<A> = Effect.Effect<A, SqlError.SqlError>

/** Each call but `find` sees the keys of one user: another's are not there. */
export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    /** The record of a key that was sent, whoever's it is. */
    readonly find: (secret: string) => Asked<KeyRow | undefined>
    /** A new key. This is the only time that it is there whole. */
    readonly create: (
      user: string,
      fields: KeyFields
    ) => Asked<{ readonly row: KeyRow; readonly secret: string }>
    /** The newest first. */
    readonly list: (
      user: string,
      page: { readonly size: number; readonly skip: number }
    ) => Asked<ReadonlyArray<KeyRow>>
    /** Those whose name has the text in it, small letters or capitals; the newest first. */
    readonly search: (user: string, text: string, size: number) => Asked<ReadonlyArray<KeyRow>>
    readonly get: (user: string, id: number) => Asked<KeyRow | undefined>
    /** Changes the fields given, and no other. */
    readonly update: (user: string, id: number, changes: Partial<KeyFields>) => Asked<KeyRow | undefined>
    /** Whether it was there. */
    readonly remove: (user: string, id: number) => Asked<boolean>
  }
>()("@sluice/demo-server/ApiKeys") {
  static readonly layer = Layer.effect(
    ApiKeys,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const get = (user: string, id: number) =>
        first(sql`SELECT * FROM tokens WHERE user_id = ${user} AND id = ${id}`)
      return {
        find: (secret) => first(sql`SELECT * FROM tokens WHERE hash = ${hashSecret(secret)}`),
        create: Effect.fn("ApiKeys.create")(function* (user, fields) {
          const secret = makeApiKey()
          const row = {
            ...fields,
            user_id: user,
            hash: hashSecret(secret),
            shown: shownOf(secret),
            created_at: yield* Clock.currentTimeMillis
          }
          const made = yield* rows(sql`INSERT INTO tokens ${sql.insert(row)} RETURNING *`)
          return { row: made[0] as KeyRow, secret }
        }),
        list: (user, { size, skip }) =>
          rows(
            sql`SELECT * FROM tokens WHERE user_id = ${user} ORDER BY id DESC LIMIT ${size} OFFSET ${skip}`
          ),
        search: (user, text, size) =>
          rows(
            sql`SELECT * FROM tokens WHERE user_id = ${user}
              AND LOWER(name) LIKE LOWER(${`%${literally(text)}%`}) ESCAPE '!'
              ORDER BY id DESC LIMIT ${size}`
          ),
        get,
        update: (user, id, changes) =>
          Object.keys(changes).length === 0
            ? get(user, id)
            : first(
                sql`UPDATE tokens SET ${sql.update(changes)} WHERE user_id = ${user} AND id = ${id} RETURNING *`
              ),
        remove: (user, id) =>
          Effect.map(
            sql`DELETE FROM tokens WHERE user_id = ${user} AND id = ${id} RETURNING id`,
            ({ length }) => length > 0
          )
      }
    })
  )
}
