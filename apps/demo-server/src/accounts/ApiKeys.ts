/** The API keys of the users, which the paths call tokens. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { Role } from "../contract/Access.ts"
import { Integer } from "../sql/Integer.ts"
import { limitColumns } from "./KeyLimits.ts"
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
  /** The models that it may use; null: all. */
  models: Schema.NullOr(Schema.fromJsonString(Schema.Array(Schema.String))),
  /** Whether it opens the documents. */
  documents: Schema.Literals([0, 1]),
  ...limitColumns,
  created_at: Integer
})
export type KeyRow = typeof KeyRow.Type

/** What a user may decide about a key. What it may use is everything where nothing is said. */
export type KeyFields = Pick<KeyRow, "name" | "status" | "expires_at" | "remain_quota" | "subnet"> &
  Partial<Pick<KeyRow, "models" | "documents" | keyof typeof limitColumns>>

/** As it is kept. */
const columnsOf = <F extends Partial<KeyFields>>({ models, ...fields }: F) => ({
  ...fields,
  ...(models !== undefined && { models: models === null ? null : JSON.stringify(models) })
})

/** A key with who holds it. */
const HeldKey = Schema.Struct({
  ...KeyRow.fields,
  username: Schema.String,
  role: Role,
  /** The user's. */
  user_status: Schema.Literals([0, 1]),
  user_requests_per_minute: limitColumns.requests_per_minute,
  user_tokens_per_minute: limitColumns.tokens_per_minute
})
export type HeldKey = typeof HeldKey.Type

const decodeHeld = Schema.decodeUnknownEffect(Schema.Array(HeldKey))
const decodeRows = Schema.decodeUnknownEffect(Schema.Array(KeyRow))

/** Rows that are not what they should be are a fault of ours. */
const rows = <R>(query: Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError, R>) =>
  Effect.flatMap(query, (found) => Effect.orDie(decodeRows(found)))

const first = <R>(query: Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError, R>) =>
  Effect.map(rows(query), ([row]) => row)

/** The text as part of a pattern in which `!` escapes: `%` and `_` stand for themselves. */
const literally = (text: string): string => text.replaceAll(/[!%_]/g, "!$&")

type Asked<A> = Effect.Effect<A, SqlError.SqlError>

/** Each call but the first two sees the keys of one user: another's are not there. */
export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    /** The record of a key that was sent, whoever's it is. */
    readonly find: (secret: string) => Asked<HeldKey | undefined>
    /** The record of a key by its id, whoever's it is. */
    readonly byId: (id: number) => Asked<HeldKey | undefined>
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
      const held = (which: Statement.Fragment) =>
        sql`SELECT tokens.*, users.username, users.role, users.status AS user_status,
            users.requests_per_minute AS user_requests_per_minute, users.tokens_per_minute AS user_tokens_per_minute
          FROM tokens JOIN users ON users.id = tokens.user_id WHERE ${which}`.pipe(
          Effect.flatMap((found) => Effect.orDie(decodeHeld(found))),
          Effect.map(([key]) => key)
        )
      const get = (user: string, id: number) =>
        first(sql`SELECT * FROM tokens WHERE user_id = ${user} AND id = ${id}`)
      return {
        byId: (id) => held(sql`tokens.id = ${id}`),
        find: (secret) => held(sql`tokens.hash = ${hashSecret(secret)}`),
        create: Effect.fn("ApiKeys.create")(function* (user, fields) {
          const secret = makeApiKey()
          const row = {
            ...columnsOf(fields),
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
        update: (user, id, changes) => {
          if (Object.keys(changes).length === 0) return get(user, id)
          const { remain_quota: quota } = changes
          // What calls that are under way have reserved was of the quota before. Who sends a token back whole, to rename
          // it, sets none; who ends it by 0 does, even where all of it is reserved.
          const anew =
            quota === undefined
              ? sql.literal("")
              : sql`, quota_version = quota_version + CASE WHEN remain_quota = ${quota} AND remain_quota > 0 THEN 0 ELSE 1 END`
          return first(
            sql`UPDATE tokens SET ${sql.update(columnsOf(changes))}${anew}
              WHERE user_id = ${user} AND id = ${id} RETURNING *`
          )
        },
        remove: (user, id) =>
          Effect.map(
            sql`DELETE FROM tokens WHERE user_id = ${user} AND id = ${id} RETURNING id`,
            ({ length }) => length > 0
          )
      }
    })
  )
}
