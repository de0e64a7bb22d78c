/** Settlements that are noted down before they are committed: whoever was answered has paid, whatever ends the process. */
import { Effect, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { asked, type Asking } from "../sql/Asking.ts"
import { notesOf, removeNotes } from "../sql/Notes.ts"
import { StartError } from "../StartError.ts"
import { settleAgain } from "./LedgerSteps.ts"
import type { Charge, Settlement } from "./Purchase.ts"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

const Noted = Schema.Struct({
  id: Schema.String,
  user: Schema.String,
  key: Schema.optionalKey(Schema.Int),
  operation: Schema.String,
  model: Schema.String,
  createdAt: Count,
  cost: Count,
  inputTokens: Count,
  outputTokens: Count
})

/** A loss of power leaves lines that are cut, or none. */
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Noted))

export const noteOf = (
  { createdAt, id, key, model, operation, user }: Charge,
  { cost, inputTokens, outputTokens }: Settlement
): string => JSON.stringify({ id, user, key, operation, model, createdAt, cost, inputTokens, outputTokens })

/** Settles what lines say, as far as it is not. */
export function* settleNoted(lines: ReadonlyArray<string>): Asking<void> {
  for (const line of lines) {
    const noted = decode(line)
    if (Option.isSome(noted)) yield* settleAgain({ ...noted.value, reserved: 0 }, noted.value)
  }
}

/** Of a database in a file: settles what a server that was killed has noted. */
export const recoverNoted = Effect.fn("Noted.recover")(function* (file: string) {
  const lines = yield* Effect.try({
    try: () => notesOf(file),
    catch: (cause) =>
      new StartError({ message: `What was paid last cannot be read beside ${file}: ${String(cause)}` })
  })
  if (lines.length === 0) return
  const sql = yield* SqlClient.SqlClient
  yield* sql.withTransaction(asked(sql, () => settleNoted(lines)))
  removeNotes(file)
})
