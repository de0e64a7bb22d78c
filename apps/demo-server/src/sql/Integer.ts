/** Whole numbers of a database. */
import { Schema, SchemaTransformation } from "effect"

/** A BIGINT: a number from SQLite, for sums a string from PostgreSQL. Numbers that are not exact are refused. */
export const Integer = Schema.Union([Schema.Int, Schema.BigInt, Schema.String]).pipe(
  Schema.decodeTo(
    Schema.Int,
    SchemaTransformation.transform<number, number | bigint | string>({
      decode: Number,
      encode: (value) => value
    })
  )
)
