/** Runs SQL over tables, in a DuckDB of its own: in memory, without files, for a few seconds. Only this file imports DuckDB. */
import type * as DuckDB from "@duckdb/node-api"
import { Data, Effect, Option } from "effect"
import { checkSql, type CheckedSql, type SourceQuery } from "./SqlCheck.ts"

const LIMITS = {
  seconds: 5,
  memory: "128MB",
  /** Rows of a result. More are no answer to read. */
  rows: 50,
  /** Rows that a result comes from. */
  sources: 2_000
} as const

/** Nothing outside of the tables can be reached, and SQL cannot change that. */
const SETTINGS = {
  threads: "1",
  memory_limit: LIMITS.memory,
  max_temp_directory_size: "0MB",
  enable_external_access: "false",
  autoload_known_extensions: "false",
  autoinstall_known_extensions: "false",
  lock_configuration: "true"
}

export interface DuckTable {
  readonly name: string
  readonly columns: ReadonlyArray<{
    readonly name: string
    readonly sqlType: string
    /** One for each row, as DuckDB reads them from text. */
    readonly values: ReadonlyArray<string | undefined>
  }>
}

/** Where a row of a result comes from. `row` counts from 0. */
export interface SourceRow {
  readonly table: string
  readonly row: number
}

export interface SqlResult {
  readonly columns: ReadonlyArray<string>
  readonly rows: ReadonlyArray<{
    readonly values: ReadonlyArray<unknown>
    /** Undefined if unknown: then all rows of `tables`. */
    readonly sources: ReadonlyArray<SourceRow> | undefined
  }>
  /** The tables that the query uses. */
  readonly tables: ReadonlyArray<string>
}

/** Why SQL did not run, in words for who wrote it. */
export class SqlFault extends Data.TaggedError("SqlFault")<{ readonly message: string }> {}

type Duck = typeof DuckDB

/** DuckDB, if `@duckdb/node-api` is installed. Its name is in parts, because bundlers fail at one that is not installed. */
export const findDuck = Effect.option(
  Effect.tryPromise(() => import(["@duckdb", "node-api"].join("/")) as Promise<Duck>)
)

const attempt = <A>(connection: DuckDB.DuckDBConnection, run: () => Promise<A>): Effect.Effect<A, SqlFault> =>
  Effect.tryPromise({
    try: (signal) => {
      signal.addEventListener("abort", () => connection.interrupt())
      return run()
    },
    catch: (cause) => new SqlFault({ message: String(cause instanceof Error ? cause.message : cause) })
  })

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

const fill = async (connection: DuckDB.DuckDBConnection, { columns, name }: DuckTable): Promise<void> => {
  const types = columns.map((column) => `${quoted(column.name)} ${column.sqlType}`)
  await connection.run(`CREATE TABLE ${quoted(name)} (${types.join(", ")})`)
  const appender = await connection.createAppender(name)
  for (const row of columns[0]?.values.keys() ?? []) {
    for (const { values } of columns) {
      const value = values[row]
      if (value === undefined) appender.appendNull()
      else appender.appendVarchar(value)
    }
    appender.endRow()
  }
  appender.closeSync()
}

const open = (duck: Duck, tables: ReadonlyArray<DuckTable>) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const instance = await duck.DuckDBInstance.create(":memory:", SETTINGS)
      return { instance, connection: await instance.connect() }
    }),
    ({ connection, instance }) =>
      Effect.sync(() => {
        connection.interrupt()
        connection.closeSync()
        instance.closeSync()
      })
  ).pipe(
    Effect.map(({ connection }) => connection),
    Effect.tap((connection) =>
      Effect.forEach(tables, (table) => attempt(connection, () => fill(connection, table)))
    )
  )

const readRows = (connection: DuckDB.DuckDBConnection, sql: string, most: number) =>
  Effect.map(
    attempt(connection, () => connection.streamAndReadUntil(sql, most + 1)),
    (reader) => ({ columns: reader.columnNames(), rows: reader.getRowsJson() })
  )

const one = Effect.fnUntraced(function* (connection: DuckDB.DuckDBConnection, sql: string, value: string) {
  const reader = yield* attempt(connection, () => connection.runAndReadAll(sql, [value]))
  return String(reader.getRowsJson()[0]?.[0])
})

/** The rows that each row of a result comes from: those with the same values. */
const sourcesOf = Effect.fnUntraced(function* (
  connection: DuckDB.DuckDBConnection,
  query: SourceQuery,
  width: number
) {
  const sql = yield* one(connection, "SELECT json_deserialize_sql($1::JSON)", query.tree)
  const { rows } = yield* readRows(connection, sql, LIMITS.sources)
  const columns = query.columns ?? Array.from({ length: width }, (_, i) => i)
  const keyOf = (values: ReadonlyArray<unknown>) => JSON.stringify(values)
  const byKey = Map.groupBy(rows, (row) => keyOf(row.slice(0, columns.length)))
  return (values: ReadonlyArray<unknown>): ReadonlyArray<SourceRow> => {
    const found = byKey.get(keyOf(columns.map((i) => values[i]))) ?? []
    return found.flatMap((row) =>
      query.tables.flatMap((table, i) => {
        const number = row[columns.length + i]
        return number === null || number === undefined ? [] : [{ table, row: Number(number) }]
      })
    )
  }
})

/** Runs one `SELECT`, and finds the rows that its result comes from. */
export const runSql = Effect.fn("Duck.runSql")(
  function* (duck: Duck, tables: ReadonlyArray<DuckTable>, sql: string) {
    const connection = yield* open(duck, tables)
    const serialized = yield* one(connection, "SELECT json_serialize_sql($1::VARCHAR)", sql)
    const checked: CheckedSql = checkSql(serialized, new Set(tables.map(({ name }) => name)))
    if (checked.fault !== undefined) return yield* new SqlFault({ message: checked.fault })
    const { columns, rows } = yield* readRows(connection, sql, LIMITS.rows)
    if (rows.length > LIMITS.rows)
      return yield* new SqlFault({ message: `The result has more than ${LIMITS.rows} rows.` })
    const { sources } = checked
    const sourcesFor =
      sources && Option.getOrUndefined(yield* Effect.option(sourcesOf(connection, sources, columns.length)))
    return {
      columns,
      rows: rows.map((values) => ({ values, sources: sourcesFor?.(values) })),
      tables: checked.tables
    } satisfies SqlResult
  },
  Effect.scoped,
  Effect.timeoutOrElse({
    duration: `${LIMITS.seconds} seconds`,
    orElse: () => Effect.fail(new SqlFault({ message: `It ran longer than ${LIMITS.seconds} seconds.` }))
  })
)
