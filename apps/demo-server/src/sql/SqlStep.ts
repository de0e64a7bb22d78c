/**
 * Steps of transactions, written once for both databases: they ask by plain statements and go on with the rows.
 *
 * Whoever runs them decides how: through Effect's client, or straight on SQLite's connection, where a statement of the
 * client costs several times what SQLite needs for it.
 */
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/** A statement with `?` where its values go. */
export interface Query {
  readonly text: string
  readonly values: ReadonlyArray<unknown>
}

type Rows = ReadonlyArray<object>

/** What is asked on the way to an `A`. */
export type Asking<A> = Generator<Query, A, Rows>

/** Asks; the rows are what the statement says that they are. */
export function* ask<Row extends object>(
  text: string,
  ...values: ReadonlyArray<unknown>
): Generator<Query, ReadonlyArray<Row>, Rows> {
  return (yield { text, values }) as ReadonlyArray<Row>
}

/** Goes through a step with somebody who answers at once. */
export const answered = <A>(asking: Asking<A>, answer: (query: Query) => Rows): A => {
  let next = asking.next()
  while (next.done !== true) next = asking.next(answer(next.value))
  return next.value
}

/** The texts of a program are few. */
const numbered = new Map<string, string>()

/** As PostgreSQL has it: `$1`, `$2` for the values in their order. */
const withNumbers = (text: string): string => {
  const known = numbered.get(text)
  if (known !== undefined) return known
  let number = 0
  const made = text.replaceAll("?", () => `$${++number}`)
  numbered.set(text, made)
  return made
}

/** Goes through a step with Effect's client. */
export const asked = <A>(
  sql: SqlClient.SqlClient,
  step: () => Asking<A>
): Effect.Effect<A, SqlError.SqlError> => {
  const textOf = sql.onDialectOrElse({ pg: () => withNumbers, orElse: () => (text: string) => text })
  return Effect.gen(function* () {
    const asking = step()
    let next = asking.next()
    while (next.done !== true) {
      next = asking.next(yield* sql.unsafe<object>(textOf(next.value.text), next.value.values))
    }
    return next.value
  })
}
