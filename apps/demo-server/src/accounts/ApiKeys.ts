/** The users' API keys. The gateway interface calls them tokens. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { DocumentsPermission, type Role } from "../contract/Access.ts"
import { GroupCommit } from "../sql/GroupCommit.ts"
import { Integer } from "../sql/Integer.ts"
import { tableRows } from "../sql/Rows.ts"
import { placeholders, query, type SqlStep } from "../sql/SqlStep.ts"
import { limitColumns } from "./KeyLimits.ts"
import { hashSecret, makeApiKey, maskKey } from "./Secret.ts"
import type { ListPage } from "./Users.ts"

/** A stored key, without its secret. */
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
  /** The models that the key may use; null: all. */
  models: Schema.NullOr(Schema.fromJsonString(Schema.Array(Schema.String))),
  documents: DocumentsPermission,
  ...limitColumns,
  created_at: Integer
})
export type KeyRow = typeof KeyRow.Type

/** The fields that a user sets. By default a key may use everything. */
export type KeyFields = Pick<KeyRow, "name" | "status" | "expires_at" | "remain_quota" | "subnet"> &
  Partial<Pick<KeyRow, "models" | "documents" | keyof typeof limitColumns>>

const columnsOf = <F extends Partial<KeyFields>>({ models, ...fields }: F) => ({
  ...fields,
  ...(models !== undefined && { models: models === null ? null : JSON.stringify(models) })
})

/** What authentication needs of a key and its user. */
export interface KeyWithUser extends Pick<
  KeyRow,
  "id" | "user_id" | "status" | "expires_at" | "subnet" | "models" | "documents" | keyof typeof limitColumns
> {
  readonly username: string
  readonly role: Role
  readonly user_status: 0 | 1
  readonly user_requests_per_minute: number | null
  readonly user_tokens_per_minute: number | null
}

/**
 * Reads keys by a column. Each request reads one: rows are trusted, since decoding them by a schema takes several times as
 * long as the query.
 */
const keysBy = <A extends string | number>(column: "hash" | "id") =>
  function* (values: ReadonlyArray<A>): SqlStep<ReadonlyArray<KeyWithUser | undefined>> {
    const rows = yield* query<
      Omit<KeyWithUser, "models"> & { models: string | null | ReadonlyArray<string>; readonly hash: string }
    >(
      `SELECT tokens.id, user_id, hash, tokens.status, expires_at, subnet, models, documents,
        tokens.requests_per_minute, tokens.tokens_per_minute, username, role, users.status AS user_status,
        users.requests_per_minute AS user_requests_per_minute, users.tokens_per_minute AS user_tokens_per_minute
      FROM tokens JOIN users ON users.id = tokens.user_id WHERE tokens.${column} IN (${placeholders(values)})`,
      ...values
    )
    for (const row of rows) if (typeof row.models === "string") row.models = JSON.parse(row.models) as []
    return values.map((value) => rows.find((row) => row[column] === value) as KeyWithUser | undefined)
  }
const keysByHash = keysBy<string>("hash")
const keysById = keysBy<number>("id")

const { first, rows } = tableRows(KeyRow)

/** Escapes text for a LIKE pattern with `!` as the escape character. */
const escapePattern = (text: string): string => text.replaceAll(/[!%_]/g, "!$&")

/** All methods but the first two see the keys of one user only. */
export class ApiKeys extends Context.Service<ApiKeys>()("@sluice/demo-server/ApiKeys", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const groups = yield* GroupCommit
    const get = (user: string, id: number) =>
      first(sql`SELECT * FROM tokens WHERE user_id = ${user} AND id = ${id}`)
    return {
      byId: (id: number) => groups.readItem(keysById, id),
      find: (secret: string) => groups.readItem(keysByHash, hashSecret(secret)),
      /** Creates a key. Only this call returns its secret. */
      create: Effect.fn("ApiKeys.create")(function* (user: string, fields: KeyFields) {
        const secret = makeApiKey()
        const row = {
          ...columnsOf(fields),
          user_id: user,
          hash: hashSecret(secret),
          shown: maskKey(secret),
          created_at: yield* Clock.currentTimeMillis
        }
        const made = yield* rows(sql`INSERT INTO tokens ${sql.insert(row)} RETURNING *`)
        return { row: made[0] as KeyRow, secret }
      }),
      /** Newest first. */
      list: (user: string, { size, skip }: ListPage) =>
        rows(sql`SELECT * FROM tokens WHERE user_id = ${user} ORDER BY id DESC LIMIT ${size} OFFSET ${skip}`),
      /** Keys whose name contains the text, ignoring case; newest first. */
      search: (user: string, text: string, size: number) =>
        rows(
          sql`SELECT * FROM tokens WHERE user_id = ${user}
              AND LOWER(name) LIKE LOWER(${`%${escapePattern(text)}%`}) ESCAPE '!'
              ORDER BY id DESC LIMIT ${size}`
        ),
      get,
      update: (user: string, id: number, changes: Partial<KeyFields>) => {
        if (Object.keys(changes).length === 0) return get(user, id)
        const { remain_quota: quota } = changes
        // A new quota does not include what running calls reserved of the old one: the version tells them apart. An
        // unchanged quota is no new one, because clients send tokens back as they read them; 0 always is.
        const newVersion =
          quota === undefined
            ? sql.literal("")
            : sql`, quota_version = quota_version + CASE WHEN remain_quota = ${quota} AND remain_quota > 0 THEN 0 ELSE 1 END`
        return first(
          sql`UPDATE tokens SET ${sql.update(columnsOf(changes))}${newVersion}
              WHERE user_id = ${user} AND id = ${id} RETURNING *`
        )
      },
      /** Whether the key existed. */
      remove: (user: string, id: number) =>
        Effect.map(
          sql`DELETE FROM tokens WHERE user_id = ${user} AND id = ${id} RETURNING id`,
          ({ length }) => length > 0
        )
    }
  })
}) {
  static readonly layer = Layer.effect(ApiKeys, ApiKeys.make)
}
