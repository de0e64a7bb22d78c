/** The tables of the accounts, for SQLite and for PostgreSQL: TEXT, BIGINT, times in epoch milliseconds. */
import { Effect } from "effect"
import { Migrator, SqlClient } from "effect/sql"

/** The only thing that the two name differently: numbers given by the database, none of them twice. */
const identity = (sql: SqlClient.SqlClient) =>
  sql.onDialectOrElse({
    pg: () => sql.literal("BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"),
    orElse: () => sql.literal("INTEGER PRIMARY KEY AUTOINCREMENT")
  })

const accounts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE users (
    id TEXT PRIMARY KEY,
    username TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    quota BIGINT NOT NULL CHECK (quota >= 0),
    created_at BIGINT NOT NULL
  )`
  // API keys. `hash` is SHA-256; `shown` the few characters that lists show; no `expires_at`: never.
  yield* sql`CREATE TABLE tokens (
    id ${identity(sql)},
    user_id TEXT NOT NULL REFERENCES users (id),
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    shown TEXT NOT NULL,
    status BIGINT NOT NULL CHECK (status IN (0, 1)),
    expires_at BIGINT,
    remain_quota BIGINT NOT NULL CHECK (remain_quota >= 0),
    subnet TEXT NOT NULL,
    created_at BIGINT NOT NULL
  )`
  yield* sql`CREATE INDEX tokens_by_user ON tokens (user_id, id)`
  // One a user: a new one takes the place of the old.
  yield* sql`CREATE TABLE system_tokens (
    user_id TEXT PRIMARY KEY REFERENCES users (id),
    hash TEXT NOT NULL UNIQUE,
    created_at BIGINT NOT NULL
  )`
  yield* sql`CREATE TABLE sessions (
    hash TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id),
    expires_at BIGINT NOT NULL
  )`
})

const all = { "0001_accounts": accounts }

/** The migration that this version knows last; a database with a higher one was made by a newer version. */
const LATEST = Object.keys(all).length

const TABLE = "migrations"

/** Brings the tables up to date; the number of the database's last migration, where it is of a newer version. */
export const migrate = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Migrator.make({})({ loader: Migrator.fromRecord(all), table: TABLE })
  const [row] = yield* sql<{ last: number }>`SELECT MAX(migration_id) AS last FROM ${sql(TABLE)}`
  const last = Number(row?.last ?? 0)
  return { isNewer: last > LATEST }
})
