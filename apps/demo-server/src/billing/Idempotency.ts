/** `Idempotency-Key`: a call that is repeated within a day gets the same response, and is executed and paid once. */
import { Failure } from "@sluice/core/contract"
import { Duration, Effect } from "effect"
import { createHash } from "node:crypto"
import { query, type SqlStep } from "../sql/SqlStep.ts"

/** How long a key stands for its first call. */
export const REMEMBERED = Duration.hours(24)

/** Characters of a key at most. */
const LONGEST = 255

/** Characters of a stored response at most. */
export const LARGEST_ANSWER = 8 * 1024 * 1024

/** A caller's key, and the hash of the request. */
export interface Idempotency {
  readonly name: string
  readonly hash: string
}

/** A stored response. */
export interface Replay {
  readonly contentType: string
  readonly answer: string
}

/** The key of a request; undefined without one. */
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
        code: "invalid_idempotency_key"
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
  code: "idempotency_key_reused"
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
  code: "idempotency_answer_not_kept"
})

/** Takes the place of a response. */
const IN_DOUBT: Replay = { contentType: "in doubt", answer: "" }

const doubtful = new Failure({
  status: 502,
  message:
    "The call with this Idempotency-Key failed on its way, and what it makes may have been made and paid for there all the same: look before you make it again, with a new key",
  param: "idempotency-key",
  code: "idempotency_in_doubt"
})

interface Row {
  readonly hash: string
  readonly charge_id: string
  readonly content_type: string | null
  readonly answer: string | null
}

/**
 * Claims a key for a charge, in its transaction. Gives nothing if the key is free, else the stored response or an
 * error.
 */
export function* claim(
  user: string,
  { hash, name }: Idempotency,
  charge: string,
  now: number
): SqlStep<Replay | Failure | undefined> {
  const taken = yield* query(
    `INSERT INTO idempotency (user_id, name, hash, charge_id, created_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (user_id, name) DO UPDATE SET hash = excluded.hash, charge_id = excluded.charge_id,
      created_at = excluded.created_at, content_type = NULL, answer = NULL
    WHERE idempotency.created_at <= ?
      OR (idempotency.hash = excluded.hash AND idempotency.answer IS NULL AND EXISTS (
        SELECT 1 FROM charges WHERE charges.id = idempotency.charge_id AND charges.state = 'refunded'))
    RETURNING name`,
    user,
    name,
    hash,
    charge,
    now,
    now - Duration.toMillis(REMEMBERED)
  )
  if (taken.length > 0) return undefined
  const [found] = yield* query<Row>(
    "SELECT hash, charge_id, content_type, answer FROM idempotency WHERE user_id = ? AND name = ?",
    user,
    name
  )
  if (found === undefined) return inFlight
  if (found.hash !== hash) return reused
  if (found.content_type === IN_DOUBT.contentType) return doubtful
  if (found.answer !== null) return { answer: found.answer, contentType: found.content_type ?? "" }
  const settled = yield* query("SELECT 1 FROM charges WHERE id = ? AND state = 'settled'", found.charge_id)
  return settled.length > 0 ? notKept : inFlight
}

/** Stores the response. */
export function* remember(charge: string, user: string, { answer, contentType }: Replay): SqlStep<void> {
  yield* query(
    "UPDATE idempotency SET answer = ?, content_type = ? WHERE user_id = ? AND charge_id = ?",
    answer,
    contentType,
    user,
    charge
  )
}

/** The outcome is unknown: the key is not executed again. */
export const markOutcomeUnknown = (charge: string, user: string): SqlStep<void> =>
  remember(charge, user, IN_DOUBT)

/** Nothing was executed: the key is free again. */
export function* forget(user: string, charge: string): SqlStep<void> {
  yield* query("DELETE FROM idempotency WHERE user_id = ? AND charge_id = ?", user, charge)
}
