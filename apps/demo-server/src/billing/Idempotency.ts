/** `Idempotency-Key`: a call that is repeated within a day gets the same response, and is executed and billed once. */
import { Failure } from "@sluice/core/contract"
import { Duration, Effect } from "effect"
import { createHash } from "node:crypto"
import { query, type SqlStep } from "../sql/SqlStep.ts"

/** How long a key is bound to its first request. */
export const KEY_LIFE = Duration.hours(24)

/** Characters of a key at most. */
const MAX_KEY = 255

/** Characters of a stored response at most. */
export const MAX_RESPONSE = 8 * 1024 * 1024

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

/** The key of a request, with the hash of `parts`; undefined without a key. */
export const idempotencyOf = (
  name: string | undefined,
  ...parts: ReadonlyArray<string>
): Effect.Effect<Idempotency | undefined, Failure> => {
  if (name === undefined) return Effect.succeed(undefined)
  if (name === "" || name.length > MAX_KEY || !/^[\x21-\x7e]+$/.test(name)) {
    return Effect.fail(
      new Failure({
        status: 400,
        message: `\`Idempotency-Key\` must have 1 to ${MAX_KEY} visible ASCII characters, such as a UUID`,
        param: "idempotency-key",
        code: "invalid_idempotency_key"
      })
    )
  }
  return Effect.sync(() => {
    const hash = createHash("sha256")
    for (const part of parts) hash.update(part).update("\0")
    return { name, hash: hash.digest("hex") }
  })
}

const keyReused = new Failure({
  status: 422,
  message: "This Idempotency-Key was used for another request. Use a new key for each request",
  param: "idempotency-key",
  code: "idempotency_key_reused"
})

const inFlight = new Failure({
  status: 409,
  message: "The call with this Idempotency-Key is still running. Try again when it has ended",
  param: "idempotency-key",
  code: "idempotency_in_flight",
  retryAfter: Duration.seconds(1),
  retryable: true
})

const responseNotStored = new Failure({
  status: 409,
  message:
    "The call with this Idempotency-Key was executed and charged, but its response was not stored. Use a new key to repeat it",
  param: "idempotency-key",
  code: "idempotency_answer_not_kept"
})

/** Stored in place of a response. */
const UNKNOWN_OUTCOME: Replay = { contentType: "in doubt", answer: "" }

const outcomeUnknown = new Failure({
  status: 502,
  message:
    "The call with this Idempotency-Key failed, but its result may have been made and paid for upstream. Check before you repeat it with a new key",
  param: "idempotency-key",
  code: "idempotency_in_doubt"
})

interface Row {
  readonly hash: string
  readonly charge_id: string
  readonly content_type: string | null
  readonly answer: string | null
}

/** Claims a key for a charge. Returns undefined if the key was free, else the stored response or an error. */
export function* claimKey(
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
    now - Duration.toMillis(KEY_LIFE)
  )
  if (taken.length > 0) return undefined
  const [found] = yield* query<Row>(
    "SELECT hash, charge_id, content_type, answer FROM idempotency WHERE user_id = ? AND name = ?",
    user,
    name
  )
  if (found === undefined) return inFlight
  if (found.hash !== hash) return keyReused
  if (found.content_type === UNKNOWN_OUTCOME.contentType) return outcomeUnknown
  if (found.answer !== null) return { answer: found.answer, contentType: found.content_type ?? "" }
  const settled = yield* query("SELECT 1 FROM charges WHERE id = ? AND state = 'settled'", found.charge_id)
  return settled.length > 0 ? responseNotStored : inFlight
}

/** Stores the response. */
export function* storeResponse(charge: string, user: string, { answer, contentType }: Replay): SqlStep<void> {
  yield* query(
    "UPDATE idempotency SET answer = ?, content_type = ? WHERE user_id = ? AND charge_id = ?",
    answer,
    contentType,
    user,
    charge
  )
}

/** Records that the outcome is unknown, so that the call is not executed again. */
export const markOutcomeUnknown = (charge: string, user: string): SqlStep<void> =>
  storeResponse(charge, user, UNKNOWN_OUTCOME)

/** Releases the key of a call that was not executed. */
export function* releaseKey(user: string, charge: string): SqlStep<void> {
  yield* query("DELETE FROM idempotency WHERE user_id = ? AND charge_id = ?", user, charge)
}
