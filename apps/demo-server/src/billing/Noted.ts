/** Settlements that are noted down before they are committed: whoever was answered has paid, whatever ends the process. */
import { Effect, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ask, asked, type Asking } from "../sql/SqlStep.ts"
import { notesOf, removeNotes } from "../sql/Notes.ts"
import { StartError } from "../config/StartError.ts"
import { settle } from "./LedgerSteps.ts"
import type { Charge, Settlement } from "./Reservation.ts"

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

/** Settles what lines say, as far as it is not; gives those who should pay and are not in the database. */
export function* settleNoted(lines: ReadonlyArray<string>): Asking<ReadonlySet<string>> {
  const strangers = new Set<string>()
  for (const line of lines) {
    const noted = Option.getOrUndefined(decode(line))
    if (noted === undefined) continue
    const [user] = yield* ask("SELECT id FROM users WHERE id = ?", noted.user)
    if (user === undefined) strangers.add(noted.user)
    else yield* settle({ ...noted, reserved: 0 }, noted)
  }
  return strangers
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
  const strangers = yield* sql.withTransaction(asked(sql, () => settleNoted(lines)))
  if (strangers.size > 0)
    yield* Effect.logWarning(
      `${file} is not the file that ${strangers.size} users have paid in last: what was noted of them beside it is left out.`
    )
  removeNotes(file)
})
