/** How the server's own calls under `/api` answer: with what was asked for as `data`. */
import { Schema } from "effect"

export const Enveloped = <S extends Schema.Top>(data: S) =>
  Schema.Struct({ success: Schema.Literal(true), message: Schema.Literal(""), data })

export const enveloped = <A>(data: A) => ({ success: true as const, message: "" as const, data })
