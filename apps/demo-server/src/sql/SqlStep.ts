/**
 * Steps of transactions, written once for both databases: generators that yield statements and receive rows.
 *
 * The driver decides how a step runs: synchronously on SQLite's connection, or as an Effect, where the statements that
 * are yielded together are one round trip.
 */
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/** A statement with `?` for each of its values. */
export interface SqlQuery {
  readonly text: string
  readonly values: ReadonlyArray<unknown>
}

export type Rows = ReadonlyArray<object>

/** Statements that do not depend on each other's rows. */
interface SqlBatch {
  readonly queries: ReadonlyArray<SqlQuery>
  /** The step does not read the rows: the statements may wait for the next ones, or for the commit. */
  readonly isWrite?: boolean
  /** The commit may be sent along. Later statements of the step then run in another transaction. */
  readonly isLast?: boolean
}

/** Yields statements and receives the rows of each. */
export type SqlStep<A> = Generator<SqlBatch, A, ReadonlyArray<Rows>>

export const sqlQuery = (text: string, ...values: ReadonlyArray<unknown>): SqlQuery => ({ text, values })

/** `?, ?, ?` for a list of values. */
export const placeholders = (values: ReadonlyArray<unknown>): string => values.map(() => "?").join(", ")

/** Runs statements together, in their order. Their rows are trusted to be `R`; none of one that is undefined. */
export function* queryTogether<R extends ReadonlyArray<ReadonlyArray<object>>>(
  queries: ReadonlyArray<SqlQuery | undefined>,
  isLast = false
): SqlStep<R> {
  const rows = (yield { queries: queries.filter((query) => query !== undefined), isLast }).values()
  return queries.map((query) => (query && rows.next().value) ?? []) as unknown as R
}

/** Runs a statement within a step. `Row` is trusted: the statement decides the columns. */
export function* query<Row extends object>(
  text: string,
  ...values: ReadonlyArray<unknown>
): SqlStep<ReadonlyArray<Row>> {
  const [rows = []] = yield { queries: [{ text, values }] }
  return rows as ReadonlyArray<Row>
}

/** Runs a statement whose rows are not read. */
export function* write(text: string, ...values: ReadonlyArray<unknown>): SqlStep<void> {
  yield { queries: [{ text, values }], isWrite: true }
}

/** Runs a step on a connection that answers at once. */
export const runSync = <A>(step: SqlStep<A>, execute: (query: SqlQuery) => Rows): A => {
  let next = step.next()
  while (next.done !== true) next = step.next(next.value.queries.map(execute))
  return next.value
}

/** PostgreSQL's placeholders: `$1`, `$2`, in order. */
export const withNumbers = (text: string): string => {
  let number = 0
  return text.replaceAll("?", () => `$${++number}`)
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
      next = running.next(
        yield* Effect.forEach(next.value.queries, ({ text, values }) =>
          sql.unsafe<object>(textOf(text), values)
        )
      )
    }
    return next.value
  })
}
