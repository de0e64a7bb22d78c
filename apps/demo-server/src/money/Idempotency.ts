/** `Idempotency-Key`: a call that is repeated within a day is answered as before, and made and paid for once. */
import { Failure } from "@sluice/core"
import { Duration, Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { createHash } from "node:crypto"

/** How long a name stands for the call that it came with first. */
export const REMEMBERED = Duration.hours(24)

/** Characters of a name at most. */
const LONGEST = 255

/** Characters of an answer that is kept at most. */
export const LARGEST_ANSWER = 8 * 1024 * 1024

/** A name that a caller gave a call, and what was asked for. */
export interface Idempotency {
  readonly name: string
  readonly hash: string
}

/** An answer that was given before. */
export interface Replay {
  readonly contentType: string
  readonly answer: string
}

/** Of what a caller sent; undefined without a name. */
export const idempotencyOf = (
  name: string | undefined,
  ...asked: ReadonlyArray<string>
): Effect.Effect<Idempotency | undefined, Failure> => {
  if (name === undefined) return Effect.succeed(undefined)
  if (name === "" || name.length > LONGEST || !/^[\x21-\x7e]+$/.test(name)) {
    return Effect.fail(
      new Failure({
        status: 400,
        message: `\`Idempotency-Key\` is 1 to ${LONGEST} visible characters: a UUID is one`,
        param: "idempotency-key",
        code: "invalid_idempotency_key",
        retryable: false
      })
    )
  }
  return Effect.sync(() => {
    const hash = createHash("sha256")
    for (const part of asked) hash.update(part).update("\0")
    return { name, hash: hash.digest("hex") }
  })
}

const reused = new Failure({
  status: 422,
  message: "This Idempotency-Key came with another request before: give each request a key of its own",
  param: "idempotency-key",
  code: "idempotency_key_reused",
  retryable: false
})

const inFlight = new Failure({
  status: 409,
  message: "The call with this Idempotency-Key is under way: send it again when it has ended",
  param: "idempotency-key",
  code: "idempotency_in_flight",
  retryAfter: Duration.seconds(1),
  retryable: true
})

const notKept = new Failure({
  status: 409,
  message:
    "The call with this Idempotency-Key was made and paid for, and its answer was not kept: use a new key to make it again",
  param: "idempotency-key",
  code: "idempotency_answer_not_kept",
  retryable: false
})

interface Row {
  readonly hash: string
  readonly charge_id: string
  readonly content_type: string | null
  readonly answer: string | null
}

/**
 * Takes a name for a charge, as a step of its transaction: nothing when it is free, else what was answered or why there
 * is no answer.
 */
export const claim = Effect.fnUntraced(function* (
  user: string,
  { hash, name }: Idempotency,
  charge: string,
  now: number
): Effect.fn.Return<Replay | Failure | undefined, SqlError.SqlError, SqlClient.SqlClient> {
  const sql = yield* SqlClient.SqlClient
  const row = { user_id: user, name, hash, charge_id: charge, created_at: now }
  const taken = yield* sql`INSERT INTO idempotency ${sql.insert(row)}
    ON CONFLICT (user_id, name) DO UPDATE SET hash = excluded.hash, charge_id = excluded.charge_id,
      created_at = excluded.created_at, content_type = NULL, answer = NULL
    WHERE idempotency.created_at <= ${now - Duration.toMillis(REMEMBERED)}
      OR (idempotency.hash = excluded.hash AND idempotency.answer IS NULL AND EXISTS (
        SELECT 1 FROM charges WHERE charges.id = idempotency.charge_id AND charges.state = 'refunded'))
    RETURNING name`
  if (taken.length > 0) return undefined
  const [found] = yield* sql<Row>`SELECT hash, charge_id, content_type, answer FROM idempotency
    WHERE user_id = ${user} AND name = ${name}`
  if (found === undefined) return inFlight
  if (found.hash !== hash) return reused
  if (found.answer !== null) return { answer: found.answer, contentType: found.content_type ?? "" }
  const settled = yield* sql`SELECT 1 FROM charges WHERE id = ${found.charge_id} AND state = 'settled'`
  return settled.length > 0 ? notKept : inFlight
})

/** Keeps what was answered. */
export const remember = Effect.fnUntraced(function* (
  charge: string,
  user: string,
  { answer, contentType }: Replay
) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE idempotency SET ${sql.update({ answer, content_type: contentType })}
    WHERE user_id = ${user} AND charge_id = ${charge}`
})

/** Nothing was made: the name is free again. */
export const forget = Effect.fnUntraced(function* (user: string, charge: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM idempotency WHERE user_id = ${user} AND charge_id = ${charge}`
})
