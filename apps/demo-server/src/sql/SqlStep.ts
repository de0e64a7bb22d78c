/**
 * Steps of transactions, written once for both databases: generators that yield queries and receive rows.
 *
 * The driver decides how a step runs: synchronously on SQLite's connection, or as an Effect over the SQL client.
 */
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/** A statement with `?` for each of its values. */
export interface SqlQuery {
  readonly text: string
  readonly values: ReadonlyArray<unknown>
}

type Rows = ReadonlyArray<object>

/** Queries, and what they lead to. */
export type SqlStep<A> = Generator<SqlQuery, A, Rows>

/** Runs a statement within a step. `Row` is trusted: the statement decides the columns. */
export function* query<Row extends object>(
  text: string,
  ...values: ReadonlyArray<unknown>
): Generator<SqlQuery, ReadonlyArray<Row>, Rows> {
  return (yield { text, values }) as ReadonlyArray<Row>
}

/** Runs a step on a connection that answers at once. */
export const runSync = <A>(step: SqlStep<A>, execute: (query: SqlQuery) => Rows): A => {
  let next = step.next()
  while (next.done !== true) next = step.next(execute(next.value))
  return next.value
}

/** The statements of a program are few: each is rewritten once. */
const numbered = new Map<string, string>()

/** PostgreSQL's placeholders: `$1`, `$2`, in order. */
const withNumbers = (text: string): string => {
  const known = numbered.get(text)
  if (known !== undefined) return known
  let number = 0
  const made = text.replaceAll("?", () => `$${++number}`)
  numbered.set(text, made)
  return made
}

/** Runs a step with Effect's SQL client. */
export const runEffect = <A>(
  sql: SqlClient.SqlClient,
  step: () => SqlStep<A>
): Effect.Effect<A, SqlError.SqlError> => {
  const textOf = sql.onDialectOrElse({ pg: () => withNumbers, orElse: () => (text: string) => text })
  return Effect.gen(function* () {
    const running = step()
    let next = running.next()
    while (next.done !== true) {
      next = running.next(yield* sql.unsafe<object>(textOf(next.value.text), next.value.values))
    }
    return next.value
  })
}
