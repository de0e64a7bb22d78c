/** Leases: an open charge whose lease has ended belongs to no running call. */
import { SHARED_CLOCK } from "../sql/SharedClock.ts"
import { placeholders, type SqlStep, write } from "../sql/SqlStep.ts"

/** How long a call counts as running after its lease was renewed. */
export const LEASE_MS = 120_000

/** The end of a lease that starts now, as SQL and its value. */
export type Lease = (now: number) => { readonly text: string; readonly value: number }

/** For a database with one server: the server's clock. */
export const ownLease: Lease = (now) => ({ text: "?", value: now + LEASE_MS })

export const sharedLease: Lease = () => ({ text: `${SHARED_CLOCK} + ?`, value: LEASE_MS })

/** The states of an open charge. */
export const OPEN = "('reserved', 'sent')"

/** Charges of one statement. The number is fixed, so that the statement is prepared once. */
const RENEWAL_BATCH = 50
const RENEWAL_PLACEHOLDERS = `(${placeholders(Array(RENEWAL_BATCH).fill(""))})`

export function* renew(ids: ReadonlyArray<string>, { text, value }: ReturnType<Lease>): SqlStep<void> {
  for (let at = 0; at < ids.length; at += RENEWAL_BATCH) {
    const some = ids.slice(at, at + RENEWAL_BATCH)
    const rest = Array(RENEWAL_BATCH - some.length).fill("")
    yield* write(
      `UPDATE charges SET lease_until = ${text} WHERE state IN ${OPEN} AND id IN ${RENEWAL_PLACEHOLDERS}`,
      value,
      ...some,
      ...rest
    )
  }
}
