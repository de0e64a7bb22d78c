/** The tables of the accounts, for SQLite and for PostgreSQL: TEXT, BIGINT, times in epoch milliseconds. */
import { Effect } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { money } from "./BillingTables.ts"

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

/** What a key may do, and who changed what. */
const permissions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // A list of models in JSON; none: all.
  yield* sql`ALTER TABLE tokens ADD COLUMN models TEXT`
  yield* sql`ALTER TABLE tokens ADD COLUMN documents BIGINT NOT NULL DEFAULT 1 CHECK (documents IN (0, 1))`
  yield* sql`ALTER TABLE users ADD COLUMN status BIGINT NOT NULL DEFAULT 1 CHECK (status IN (0, 1))`
  // The key by which a session was opened: it may do what the key may.
  yield* sql`ALTER TABLE sessions ADD COLUMN token_id BIGINT`
  yield* sql`CREATE TABLE audit (
    id ${identity(sql)},
    at BIGINT NOT NULL,
    actor TEXT NOT NULL,
    credential TEXT NOT NULL,
    address TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    details TEXT NOT NULL
  )`
})

/** What a key may do in a minute, of its own and by its user; null: nothing is said. */
const limits = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const table of ["tokens", "users"]) {
    for (const column of ["requests_per_minute", "tokens_per_minute"]) {
      yield* sql`ALTER TABLE ${sql(table)} ADD COLUMN ${sql(column)} BIGINT`
    }
  }
})

/** What was begun of images and videos: a task in JSON, beside what it is found by. */
const mediaTasks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE media_tasks (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    user_id TEXT NOT NULL,
    provider TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    task TEXT NOT NULL
  )`
  yield* sql`CREATE INDEX media_tasks_by_age ON media_tasks (created_at)`
})

/** How often a key's quota was set, and of which of those quotas a charge has taken: none where it has no key. */
const quotaVersions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE tokens ADD COLUMN quota_version BIGINT NOT NULL DEFAULT 0`
  yield* sql`ALTER TABLE charges ADD COLUMN quota_version BIGINT DEFAULT 0`
})

const all = {
  "0001_accounts": accounts,
  "0002_permissions": permissions,
  "0003_money": money,
  "0004_limits": limits,
  "0005_media_tasks": mediaTasks,
  "0006_quota_versions": quotaVersions
}

/** The migration that this version knows last; a database with a higher one was made by a newer version. */
const LATEST = Object.keys(all).length

const TABLE = "migrations"

/** The lock's number: any, so long as nothing else in the database takes it. */
const MIGRATION_LOCK = 7_185_423

/** Brings the tables up to date; the number of the database's last migration, where it is of a newer version. */
export const migrate = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const run = Migrator.make({})({ loader: Migrator.fromRecord(all), table: TABLE })
  // Servers that start at once take turns.
  const lock = sql.onDialectOrElse({
    pg: () => Effect.asVoid(sql`SELECT pg_advisory_xact_lock(${sql.literal(String(MIGRATION_LOCK))})`),
    orElse: () => Effect.void
  })
  yield* sql.withTransaction(Effect.andThen(lock, run))
  const [row] = yield* sql<{ last: number }>`SELECT MAX(migration_id) AS last FROM ${sql(TABLE)}`
  const last = Number(row?.last ?? 0)
  return { isNewer: last > LATEST }
})
