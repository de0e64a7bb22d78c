/** The rows of queries. */
import { Effect, Schema } from "effect"

/** Reads the rows of a query, all or the first. Invalid rows are a defect. */
export const tableRows = <A>(row: Schema.ConstraintDecoder<A>) => {
  const decode = Schema.decodeUnknownEffect(Schema.Array(row))
  const rows = <E>(query: Effect.Effect<ReadonlyArray<unknown>, E>) =>
    Effect.flatMap(query, (found) => Effect.orDie(decode(found)))
  return {
    rows,
    first: <E>(query: Effect.Effect<ReadonlyArray<unknown>, E>) => Effect.map(rows(query), ([one]) => one)
  }
}

/** The number that a query returns as `n`; 0 for none. PostgreSQL returns sums as text. */
export const oneNumber = <E>(query: Effect.Effect<ReadonlyArray<object>, E>) =>
  Effect.map(query, ([row]) => Number((row as { readonly n?: unknown } | undefined)?.n ?? 0))
