/** `Idempotency-Key`: a call that is repeated within a day gets the same response, and is executed and billed once. */
import { Failure } from "@sluice/core/contract"
import { Duration, Effect } from "effect"
import { createHash } from "node:crypto"
import { query, type SqlStep, write } from "../sql/SqlStep.ts"

/** How long a key is bound to its first request. */
export const KEY_LIFE = Duration.hours(24)

/** Characters of a key at most. */
const MAX_KEY = 255

/** Characters of a stored response at most. */
export const MAX_RESPONSE = 8 * 1024 * 1024

/** Bytes of one user's stored responses at most. Later ones are not stored. */
const MAX_STORED = 256 * 1024 * 1024

/** Bytes of a response that is always stored: the id of a token, and the mark of an unknown outcome. */
const ALWAYS_STORED = 1024

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

const fault = (status: Failure["status"], code: string, message: string) =>
  new Failure({ status, code, message, param: "idempotency-key" })

/** The key of a request, with the hash of `parts`; undefined without a key. */
export const idempotencyOf = (
  name: string | undefined,
  ...parts: ReadonlyArray<string>
): Effect.Effect<Idempotency | undefined, Failure> => {
  if (name === undefined) return Effect.succeed(undefined)
  if (name === "" || name.length > MAX_KEY || !/^[\x21-\x7e]+$/.test(name)) {
    const message = `\`Idempotency-Key\` must have 1 to ${MAX_KEY} visible ASCII characters, such as a UUID`
    return Effect.fail(fault(400, "invalid_idempotency_key", message))
  }
  return Effect.sync(() => {
    const hash = createHash("sha256")
    for (const part of parts) hash.update(part).update("\0")
    return { name, hash: hash.digest("hex") }
  })
}

const keyReused = fault(
  422,
  "idempotency_key_reused",
  "This Idempotency-Key was used for another request. Use a new key for each request"
)

const inFlight = new Failure({
  status: 409,
  message: "The call with this Idempotency-Key is still running. Try again when it has ended",
  param: "idempotency-key",
  code: "idempotency_in_flight",
  retryAfter: Duration.seconds(1),
  retryable: true
})

const responseNotStored = fault(
  409,
  "idempotency_answer_not_kept",
  "The call with this Idempotency-Key was executed and charged, but its response was not stored. Use a new key to repeat it"
)

/** Stored in place of a response. */
const UNKNOWN_OUTCOME: Replay = { contentType: "in doubt", answer: "" }

const outcomeUnknown = fault(
  502,
  "idempotency_in_doubt",
  "The call with this Idempotency-Key failed, but its result may have been made and paid for upstream. Check before you repeat it with a new key"
)

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
  yield* deleteResponses(now - Duration.toMillis(KEY_LIFE), { user, name })
  const taken = yield* query(
    `INSERT INTO idempotency (user_id, name, hash, charge_id, created_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (user_id, name) DO UPDATE SET hash = excluded.hash, charge_id = excluded.charge_id,
      created_at = excluded.created_at, content_type = NULL, answer = NULL
    WHERE idempotency.hash = excluded.hash AND idempotency.answer IS NULL AND EXISTS (
      SELECT 1 FROM charges WHERE charges.id = idempotency.charge_id AND charges.state = 'refunded')
    RETURNING name`,
    user,
    name,
    hash,
    charge,
    now
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

/** Stores the response, unless the user's responses have too many bytes, or the key has expired since. */
export function* storeResponse(charge: string, user: string, { answer, contentType }: Replay): SqlStep<void> {
  const bytes = Buffer.byteLength(answer)
  const counted = yield* query(
    `UPDATE users SET stored_bytes = stored_bytes + ? WHERE id = ? AND (? <= ${ALWAYS_STORED}
      OR stored_bytes + ? <= ${MAX_STORED})
      AND EXISTS (SELECT 1 FROM idempotency WHERE user_id = ? AND charge_id = ?) RETURNING id`,
    bytes,
    user,
    bytes,
    bytes,
    user,
    charge
  )
  if (counted.length === 0) return
  yield* query(
    "UPDATE idempotency SET answer = ?, content_type = ? WHERE user_id = ? AND charge_id = ?",
    answer,
    contentType,
    user,
    charge
  )
}

interface DeletedRow {
  readonly user_id: string
  readonly bytes: number | null
}

/** Deletes keys with their responses that are from before a time: all, or one. */
export function* deleteResponses(
  before: number,
  one?: { readonly user: string; readonly name: string }
): SqlStep<void> {
  const deleted = yield* query<DeletedRow>(
    `DELETE FROM idempotency WHERE created_at <= ? ${one === undefined ? "" : "AND user_id = ? AND name = ?"}
      RETURNING user_id, OCTET_LENGTH(answer) AS bytes`,
    before,
    ...(one === undefined ? [] : [one.user, one.name])
  )
  for (const [user, rows] of Map.groupBy(deleted, ({ user_id }) => user_id)) {
    const bytes = rows.reduce((sum, row) => sum + Number(row.bytes), 0)
    yield* write(
      "UPDATE users SET stored_bytes = CASE WHEN stored_bytes > ? THEN stored_bytes - ? ELSE 0 END WHERE id = ?",
      bytes,
      bytes,
      user
    )
  }
}

/** Records that the outcome is unknown, so that the call is not executed again. */
export const markOutcomeUnknown = (charge: string, user: string): SqlStep<void> =>
  storeResponse(charge, user, UNKNOWN_OUTCOME)

/** Releases the key of a call that was not executed. */
export function* releaseKey(user: string, charge: string): SqlStep<void> {
  yield* query("DELETE FROM idempotency WHERE user_id = ? AND charge_id = ?", user, charge)
}
