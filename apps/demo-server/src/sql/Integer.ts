/** Whole numbers out of a database. */
import { Schema, SchemaTransformation } from "effect"

/** A BIGINT: a number from SQLite, a sum over them a string from PostgreSQL; refused where a number would not be exact. */
export const Integer = Schema.Union([Schema.Int, Schema.BigInt, Schema.String]).pipe(
  Schema.decodeTo(
    Schema.Int,
    SchemaTransformation.transform<number, number | bigint | string>({
      decode: Number,
      encode: (value) => value
    })
  )
)
