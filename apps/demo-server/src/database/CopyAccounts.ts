/** Copies the accounts between SQLite and PostgreSQL. */
import { Context, Effect, Layer, Struct } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { ServerConfig } from "../config/ServerConfig.ts"
import { StartError } from "../config/StartError.ts"
import { DatabaseLayer } from "./Database.ts"

/** Primary keys, in the order of the foreign keys. Rate windows and sign-ins that have begun are not copied: they last minutes. */
const TABLES = {
  users: ["id"],
  tokens: ["id"],
  system_tokens: ["user_id"],
  sessions: ["hash"],
  audit: ["id"],
  charges: ["id"],
  idempotency: ["user_id", "name"],
  media_tasks: ["id"],
  conversations: ["id"],
  conversation_turns: ["conversation_id", "number"],
  collection_members: ["owner_id", "collection", "kind", "member"],
  user_groups: ["user_id", "name"],
  identities: ["issuer", "subject"],
  invitations: ["hash"],
  sources: ["id"]
} as const
type TableName = keyof typeof TABLES

/** Tables whose ids the database generates. */
const GENERATED_IDS: ReadonlySet<string> = new Set(["tokens", "audit"])

/** Rows per statement. PostgreSQL allows 65,535 values, and the widest table has 17 columns. */
const BATCH = 1000

/** Rows per statement of tables with large rows: one of `idempotency` may be 8 MiB. PostgreSQL's limit is 1 GiB per statement. */
const LARGE_ROWS_BATCH = 8

type Row = Record<string, unknown>

const isEmpty = (sql: SqlClient.SqlClient) =>
  Effect.map(sql`SELECT id FROM users LIMIT 1`, ({ length }) => length === 0)

/** The last generated id of a table, whose row may be removed by now. */
const lastId = (sql: SqlClient.SqlClient, table: TableName) =>
  Effect.map(
    sql.onDialectOrElse({
      pg: () =>
        sql<{
          last: number | null
        }>`SELECT pg_sequence_last_value(pg_get_serial_sequence(${table}, 'id')::REGCLASS) AS last`,
      orElse: () =>
        sql<{ last: number | null }>`SELECT seq AS last FROM sqlite_sequence WHERE name = ${table}`
    }),
    ([row]) => row?.last ?? undefined
  )

/** Ids of removed rows must not be used again. */
const setLastId = (sql: SqlClient.SqlClient, table: TableName, last: number) =>
  sql.onDialectOrElse({
    pg: () => Effect.asVoid(sql`SELECT setval(pg_get_serial_sequence(${table}, 'id'), ${last})`),
    orElse: () =>
      sql`DELETE FROM sqlite_sequence WHERE name = ${table}`.pipe(
        Effect.andThen(sql`INSERT INTO sqlite_sequence (name, seq) VALUES (${table}, ${last})`),
        Effect.asVoid
      )
  })

/** Whether PostgreSQL generates the ids, or takes them from the statement. */
const setGenerated = (sql: SqlClient.SqlClient, table: TableName, mode: "ALWAYS" | "BY DEFAULT") =>
  sql.onDialectOrElse({
    pg: () =>
      Effect.asVoid(sql`ALTER TABLE ${sql(table)} ALTER COLUMN id SET GENERATED ${sql.literal(mode)}`),
    orElse: () => Effect.void
  })

const copyTable = Effect.fnUntraced(function* (
  from: SqlClient.SqlClient,
  to: SqlClient.SqlClient,
  table: TableName
) {
  const isGenerated = GENERATED_IDS.has(table)
  if (isGenerated) yield* setGenerated(to, table, "BY DEFAULT")
  const batch = table === "idempotency" || table === "conversation_turns" ? LARGE_ROWS_BATCH : BATCH
  const key = from.literal(TABLES[table].join(", "))
  let copied = 0
  let last: Row | undefined
  for (;;) {
    const values = last && TABLES[table].map((column) => from`${last?.[column]}`)
    const after = values === undefined ? from.literal("") : from`WHERE (${key}) > (${from.csv(values)})`
    const rows = yield* from<Row>`SELECT * FROM ${from(table)} ${after} ORDER BY ${key} LIMIT ${batch}`
    if (rows.length === 0) break
    last = rows.at(-1)
    copied += rows.length
    yield* to`INSERT INTO ${to(table)} ${to.insert(rows as [Row, ...Array<Row>])}`
  }
  if (isGenerated) {
    yield* setGenerated(to, table, "ALWAYS")
    const id = yield* lastId(from, table)
    if (id !== undefined) yield* setLastId(to, table, Number(id))
  }
  return [table, copied] as const
})

/** Copies every table into an empty database of the same version, in one transaction. Returns the rows of each. */
const copyTables = Effect.fnUntraced(function* (from: SqlClient.SqlClient, to: SqlClient.SqlClient) {
  const tables = Struct.keys(TABLES)
  const counts = yield* to.withTransaction(Effect.forEach(tables, (table) => copyTable(from, to, table)))
  return Object.fromEntries(counts)
})

/**
 * Copies the SQLite of the folder `data` into the PostgreSQL of the configuration. Returns the rows of each table.
 *
 * **Details.** Keys, tokens and sessions stay valid. Fails with a `StartError` if the source has no accounts or the target
 * already has some; `what` says what was not done.
 */
export const copyAccounts = Effect.fn("copyAccounts")(function* (data: string, what: "copied" | "restored") {
  const config = yield* ServerConfig
  const reject = (message: string) => new StartError({ message })
  const open = (database: (typeof config)["database"]) => {
    const layer = Layer.provide(DatabaseLayer, Layer.succeed(ServerConfig, { ...config, data, database }))
    return Effect.map(Layer.build(Layer.fresh(layer)), Context.get(SqlClient.SqlClient))
  }
  const [from, to] = [yield* open(undefined), yield* open(config.database)]
  const copied = Effect.gen(function* () {
    if (yield* isEmpty(from))
      return yield* reject("This data folder has no accounts. Choose another with --data or SLUICE_DATA")
    if (!(yield* isEmpty(to)))
      return yield* reject("The database of SLUICE_DATABASE_URL already has accounts. Use an empty one")
    return yield* copyTables(from, to)
  })
  return yield* Effect.catchIf(copied, SqlError.isSqlError, ({ message, reason }) =>
    Effect.fail(reject(`The accounts were not ${what}: ${reason.message ?? message}`))
  )
}, Effect.scoped)

/** Copies PostgreSQL as it is at one moment into a new SQLite file, while servers use it. Returns the rows of each table. */
export const exportAccounts = Effect.fn("exportAccounts")(function* (
  from: SqlClient.SqlClient,
  to: SqlClient.SqlClient
) {
  return yield* from.withTransaction(
    Effect.andThen(from`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`, copyTables(from, to))
  )
})
