/** The tables, for SQLite and PostgreSQL: TEXT and BIGINT columns, times in epoch milliseconds. */
import { Effect, Record } from "effect"
import { PersistedQueue } from "effect/persistence"
import { Migrator, SqlClient, type SqlError } from "effect/sql"

/** Generated ids that are never used twice. The only difference between the two dialects. */
const identity = (sql: SqlClient.SqlClient) =>
  sql.onDialectOrElse({
    pg: () => sql.literal("BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"),
    orElse: () => sql.literal("INTEGER PRIMARY KEY AUTOINCREMENT")
  })

/** What a migration runs, in this order. */
type Statements = (sql: SqlClient.SqlClient) => ReadonlyArray<Effect.Effect<unknown, SqlError.SqlError>>

const accounts: Statements = (sql) => [
  sql`CREATE TABLE users (
    id TEXT PRIMARY KEY,
    username TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    quota BIGINT NOT NULL CHECK (quota >= 0),
    created_at BIGINT NOT NULL
  )`,
  // API keys. `hash` is SHA-256, `shown` the masked key. Null `expires_at`: never expires.
  sql`CREATE TABLE tokens (
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
  )`,
  sql`CREATE INDEX tokens_by_user ON tokens (user_id, id)`,
  // One per user.
  sql`CREATE TABLE system_tokens (
    user_id TEXT PRIMARY KEY REFERENCES users (id),
    hash TEXT NOT NULL UNIQUE,
    created_at BIGINT NOT NULL
  )`,
  sql`CREATE TABLE sessions (
    hash TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id),
    expires_at BIGINT NOT NULL
  )`
]

/** Permissions of keys, and the audit log. */
const permissions: Statements = (sql) => [
  // A JSON list of models; null: all.
  sql`ALTER TABLE tokens ADD COLUMN models TEXT`,
  sql`ALTER TABLE tokens ADD COLUMN documents BIGINT NOT NULL DEFAULT 1 CHECK (documents IN (0, 1))`,
  sql`ALTER TABLE users ADD COLUMN status BIGINT NOT NULL DEFAULT 1 CHECK (status IN (0, 1))`,
  // The key that opened the session and limits its rights.
  sql`ALTER TABLE sessions ADD COLUMN token_id BIGINT`,
  sql`CREATE TABLE audit (
    id ${identity(sql)},
    at BIGINT NOT NULL,
    actor TEXT NOT NULL,
    credential TEXT NOT NULL,
    address TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    details TEXT NOT NULL
  )`
]

/** Charges, rate windows and idempotent responses. */
const billing: Statements = (sql) => [
  // Everything a user was ever granted. Always equals quota + open reserves + settled costs.
  sql`ALTER TABLE users ADD COLUMN granted BIGINT NOT NULL DEFAULT 0`,
  sql`UPDATE users SET granted = quota`,
  // A charge: reserved, or sent if it creates something at an upstream; then settled or refunded, once. `planned` is the
  // cost of a task, set when the task was accepted.
  sql`CREATE TABLE charges (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id),
    token_id BIGINT,
    operation TEXT NOT NULL,
    model TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('reserved', 'sent', 'settled', 'refunded')),
    reserved BIGINT NOT NULL CHECK (reserved >= 0),
    planned BIGINT NOT NULL DEFAULT 0 CHECK (planned >= 0),
    cost BIGINT NOT NULL DEFAULT 0 CHECK (cost >= 0),
    uncollected BIGINT NOT NULL DEFAULT 0 CHECK (uncollected >= 0),
    input_tokens BIGINT NOT NULL DEFAULT 0,
    output_tokens BIGINT NOT NULL DEFAULT 0,
    task TEXT,
    lease_until BIGINT NOT NULL,
    created_at BIGINT NOT NULL
  )`,
  sql`CREATE INDEX charges_open ON charges (lease_until) WHERE state IN ('reserved', 'sent')`,
  sql`CREATE INDEX charges_by_user ON charges (user_id, created_at)`,
  sql`CREATE INDEX charges_by_task ON charges (task) WHERE task IS NOT NULL`,
  // For each key, the last minute with calls, and their counts.
  sql`CREATE TABLE rate_windows (
    token_id BIGINT PRIMARY KEY,
    starts_at BIGINT NOT NULL,
    requests BIGINT NOT NULL,
    tokens BIGINT NOT NULL
  )`,
  // The response to an Idempotency-Key. Null while the call is running.
  sql`CREATE TABLE idempotency (
    user_id TEXT NOT NULL REFERENCES users (id),
    name TEXT NOT NULL,
    hash TEXT NOT NULL,
    charge_id TEXT NOT NULL,
    content_type TEXT,
    answer TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, name)
  )`,
  sql`CREATE INDEX idempotency_by_age ON idempotency (created_at)`
]

/** Rate limits of keys and users; null: not set. */
const limits: Statements = (sql) =>
  ["tokens", "users"].flatMap((table) =>
    ["requests_per_minute", "tokens_per_minute"].map(
      (column) => sql`ALTER TABLE ${sql(table)} ADD COLUMN ${sql(column)} BIGINT`
    )
  )

/** Tasks of images and videos: JSON, with the columns that queries use. */
const mediaTasks: Statements = (sql) => [
  sql`CREATE TABLE media_tasks (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    user_id TEXT NOT NULL,
    provider TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    task TEXT NOT NULL
  )`,
  sql`CREATE INDEX media_tasks_by_age ON media_tasks (created_at)`
]

/** Counts how often a key's quota was set, and which of those quotas a charge has taken from; null without a key. */
const quotaVersions: Statements = (sql) => [
  sql`ALTER TABLE tokens ADD COLUMN quota_version BIGINT NOT NULL DEFAULT 0`,
  sql`ALTER TABLE charges ADD COLUMN quota_version BIGINT DEFAULT 0`
]

/** Bytes of the responses that are stored for a user's Idempotency-Keys. */
const storedBytes: Statements = (sql) => [
  sql`ALTER TABLE users ADD COLUMN stored_bytes BIGINT NOT NULL DEFAULT 0`
]

/** Conversations. An answer is JSON, with its trace. `share`: SHA-256 of the link's secret. */
const conversations: Statements = (sql) => [
  sql`CREATE TABLE conversations (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id),
    title TEXT NOT NULL,
    collection TEXT NOT NULL,
    share TEXT UNIQUE,
    bytes BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
  )`,
  sql`CREATE INDEX conversations_by_user ON conversations (user_id, updated_at)`,
  sql`CREATE TABLE conversation_turns (
    conversation_id TEXT NOT NULL REFERENCES conversations (id),
    number BIGINT NOT NULL,
    answer TEXT NOT NULL,
    rating TEXT CHECK (rating IN ('up', 'down')),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (conversation_id, number)
  )`
]

/** What keys may do with documents, in place of whether they may use them; and the members of collections. */
const sharing: Statements = (sql) => [
  sql`ALTER TABLE tokens ADD COLUMN permission TEXT NOT NULL DEFAULT 'write'
    CHECK (permission IN ('none', 'read', 'write'))`,
  sql`UPDATE tokens SET permission = 'none' WHERE documents = 0`,
  sql`ALTER TABLE tokens DROP COLUMN documents`,
  sql`ALTER TABLE tokens RENAME COLUMN permission TO documents`,
  // `member` is the id of a user or the name of a group.
  sql`CREATE TABLE collection_members (
    owner_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    collection TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('user', 'group')),
    member TEXT NOT NULL,
    access TEXT NOT NULL CHECK (access IN ('read', 'write')),
    PRIMARY KEY (owner_id, collection, kind, member)
  )`,
  sql`CREATE INDEX collection_members_by_member ON collection_members (kind, member)`,
  // Groups of the last sign-in by an identity provider.
  sql`CREATE TABLE user_groups (
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    PRIMARY KEY (user_id, name)
  )`
]

/** Users of an identity provider, sign-ins that have begun there, and invitations. Secrets of links are hashed. */
const identities: Statements = (sql) => [
  sql`CREATE TABLE identities (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (issuer, subject)
  )`,
  sql`CREATE TABLE sign_ins (
    state TEXT PRIMARY KEY,
    browser TEXT NOT NULL,
    nonce TEXT NOT NULL,
    verifier TEXT NOT NULL,
    expires_at BIGINT NOT NULL
  )`,
  sql`CREATE TABLE invitations (
    hash TEXT PRIMARY KEY,
    username TEXT NOT NULL,
    role TEXT NOT NULL,
    quota BIGINT NOT NULL CHECK (quota >= 0),
    expires_at BIGINT NOT NULL
  )`
]

/** Jobs. `caller`, `files`, `progress` and `result` are JSON. `bytes`: of files that wait. */
const jobs: Statements = (sql) => [
  sql`CREATE TABLE jobs (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    collection TEXT,
    caller TEXT NOT NULL,
    files TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
    progress TEXT NOT NULL,
    result TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
  )`,
  sql`CREATE INDEX jobs_by_user ON jobs (user_id, created_at)`
]

/** Places whose documents a collection follows, and the run of a source that a job is. */
const sources: Statements = (sql) => [
  // `collection` is the name at `owner_id`, `user_id` who added it. `caller` and `schedule` are JSON. `job`: of the last run;
  // `change_job`: of the last change that a watched folder reported.
  sql`CREATE TABLE sources (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    owner_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    collection TEXT NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    address TEXT NOT NULL,
    caller TEXT NOT NULL,
    schedule TEXT,
    credential TEXT,
    paused BIGINT NOT NULL DEFAULT 0 CHECK (paused IN (0, 1)),
    stopped TEXT,
    next_run BIGINT,
    job TEXT,
    change_job TEXT,
    created_at BIGINT NOT NULL,
    UNIQUE (owner_id, collection, name)
  )`,
  sql`CREATE INDEX sources_by_next_run ON sources (next_run)`,
  sql`CREATE INDEX sources_by_user ON sources (user_id)`,
  // JSON: the id of the source, and the documents that changed.
  sql`ALTER TABLE jobs ADD COLUMN source TEXT`
]

/** The request of a running task, and the lease of the server that runs it. Whose library a job writes to. */
const leasesAndOwners: Statements = (sql) => [
  sql`ALTER TABLE media_tasks ADD COLUMN request TEXT`,
  sql`ALTER TABLE media_tasks ADD COLUMN owner TEXT NOT NULL DEFAULT ''`,
  sql`ALTER TABLE media_tasks ADD COLUMN lease_until BIGINT NOT NULL DEFAULT 0`,
  sql`ALTER TABLE jobs ADD COLUMN owner TEXT`
]

/** Bytes that were stored in a user's library on the day `stored_day`, counted in days since 1970. */
const storedToday: Statements = (sql) => [
  sql`ALTER TABLE users ADD COLUMN stored_today BIGINT NOT NULL DEFAULT 0`,
  sql`ALTER TABLE users ADD COLUMN stored_day BIGINT NOT NULL DEFAULT 0`
]

const all = {
  "0001_accounts": accounts,
  "0002_permissions": permissions,
  "0003_money": billing,
  "0004_limits": limits,
  "0005_media_tasks": mediaTasks,
  "0006_quota_versions": quotaVersions,
  "0007_stored_bytes": storedBytes,
  "0008_conversations": conversations,
  "0009_sharing": sharing,
  "0010_identities": identities,
  "0011_jobs": jobs,
  "0012_sources": sources,
  "0013_leases_and_owners": leasesAndOwners,
  "0014_stored_today": storedToday
}

/** The table of the queues. */
export const JOB_QUEUE = "job_queue"

/** The last migration that this version knows. A database with a higher one is of a newer version. */
export const LATEST = Object.keys(all).length

const TABLE = "migrations"

/** An arbitrary number for the advisory lock, which nothing else in the database uses. */
const MIGRATION_LOCK = 7_185_423

/** The last migration that a database has had; 0 if none. */
export const accountsVersion = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ last: number | null }>`SELECT MAX(migration_id) AS last FROM ${sql(TABLE)}`
  return Number(row?.last ?? 0)
})

/** Migrates the tables. `isNewer`: the database is of a newer version. */
export const migrate = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const migrations = Record.map(all, (statements) => Effect.all(statements(sql), { discard: true }))
  const run = Migrator.make({})({ loader: Migrator.fromRecord(migrations), table: TABLE })
  // Servers that start at the same time migrate one after the other.
  const lock = sql.onDialectOrElse({
    pg: () => Effect.asVoid(sql`SELECT pg_advisory_xact_lock(${sql.literal(String(MIGRATION_LOCK))})`),
    orElse: () => Effect.void
  })
  // The queue makes its tables when it is opened: here, so that two servers do not make them at once.
  const queue = Effect.scoped(PersistedQueue.makeStoreSql({ tableName: JOB_QUEUE }))
  yield* sql.withTransaction(Effect.all([lock, run, queue], { discard: true }))
  return { isNewer: (yield* accountsVersion) > LATEST }
})
