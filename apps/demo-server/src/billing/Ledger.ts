/** The balances: units are reserved before a call, and settled or refunded after it, exactly once. */
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { write } from "../sql/SqlStep.ts"
import { oneNumber } from "../sql/Rows.ts"
import { deleteResponses, storeResponse, type Replay } from "./Idempotency.ts"
import { SHARED_CLOCK } from "../sql/SharedClock.ts"
import { OPEN, ownLease, renew, sharedLease } from "./Lease.ts"
import { refund, reserveAll, settleAll } from "./LedgerSteps.ts"
import { type Charge, chargeId, type ReservationRequest, type Settlement } from "./Reservation.ts"
import { GroupCommit, type Step } from "../sql/GroupCommit.ts"

export type * from "./Reservation.ts"

/** A charge that is neither settled nor refunded yet. */
export interface OpenCharge extends Charge {
  readonly task: string | undefined
  /** The cost of the task in quota units. */
  readonly planned: number
}

interface OpenRow {
  readonly id: string
  readonly user_id: string
  readonly token_id: number | null
  readonly reserved: number
  readonly operation: string
  readonly model: string
  readonly task: string | null
  readonly planned: number
  readonly created_at: number
}

const openCharge = (row: OpenRow): OpenCharge => ({
  id: row.id,
  user: row.user_id,
  key: row.token_id === null ? undefined : Number(row.token_id),
  operation: row.operation,
  model: row.model,
  task: row.task ?? undefined,
  planned: Number(row.planned),
  reserved: Number(row.reserved),
  createdAt: Number(row.created_at)
})

/** Open charges: of calls that create nothing, of creations without a task, and of tasks. */
const CHARGE_KINDS = {
  calls: "state = 'reserved'",
  creations: "state = 'sent' AND task IS NULL",
  tasks: "state = 'sent' AND task IS NOT NULL"
}

/** Charges that one query returns at most. */
const EXPIRED_BATCH = 200

/**
 * The ledger of charges.
 *
 * **Details.** The database guards the balances of user and key, for all servers. A cost above the reserve is taken from
 * the rest of both balances, and what they do not cover is recorded as `uncollected`. For each charge, one call of `settle`
 * or `refund` has an effect and returns true. For each user, at any time: granted = quota + open reserves + settled costs.
 *
 * **Gotchas.** Interruption does not stop a step that has started: it is committed.
 */
export class Ledger extends Context.Service<Ledger>()("@sluice/demo-server/Ledger", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const groups = yield* GroupCommit
    /** For steps that lock a charge before its user. */
    const commit = <A>(step: Step<A>, user?: string) =>
      Effect.uninterruptible(groups.commit(step, { user, locksOthers: true }))
    const lease = sql.onDialectOrElse({ pg: () => sharedLease, orElse: () => ownLease })
    const reserving = reserveAll(lease)
    const openCharges = (where: Statement.Fragment) =>
      Effect.map(sql<OpenRow>`SELECT * FROM charges WHERE ${where}`, (rows) => rows.map(openCharge))
    const sumOf = (column: string) => (charges: ReadonlyArray<string>) =>
      charges.length === 0
        ? Effect.succeed(0)
        : oneNumber(sql`SELECT SUM(${sql.literal(column)}) AS n FROM charges WHERE ${sql.in("id", charges)}`)

    return {
      reserve: Effect.fnUntraced(function* (request: ReservationRequest) {
        const now = yield* Clock.currentTimeMillis
        const id = chargeId(now)
        // A reserve of a call that creates nothing need not survive the process: recovery would refund it.
        const options = {
          user: request.user,
          durable: request.creates,
          locksOthers: request.idempotency !== undefined
        }
        return yield* Effect.uninterruptible(groups.commitItem(reserving, { id, now, request }, options))
      }),
      /** Also settles a charge whose reserve was lost with a server or a commit, or refunded after its lease expired. */
      settle: (charge: Charge, settlement: Settlement) =>
        Effect.uninterruptible(groups.commitItem(settleAll, { charge, settlement }, { user: charge.user })),
      /** `outcomeUnknown`: the call may have created something, so its `Idempotency-Key` must not create it again. */
      refund: ({ id, user }: Charge, outcomeUnknown?: boolean) =>
        commit(() => refund(id, outcomeUnknown), user),
      /** Refunds a charge whose lease has expired. */
      refundExpired: ({ id, user }: Charge, outcomeUnknown: boolean) =>
        commit(() => refund(id, outcomeUnknown, true), user),
      /** The call continues as a task. The charge is settled for `planned` units, or refunded, when the task ends. */
      assign: (charge: string, task: string, planned: number) =>
        commit(() => write("UPDATE charges SET task = ?, planned = ? WHERE id = ?", task, planned, charge)),
      /** The open charge of a task. */
      ofTask: (user: string, task: string) =>
        Effect.map(
          openCharges(sql`task = ${task} AND user_id = ${user} AND state IN ${sql.literal(OPEN)}`),
          ([charge]) => charge
        ),
      /** Stores the response for callers who repeat the call. */
      storeResponse: ({ id, user }: Charge, replay: Replay) =>
        commit(() => storeResponse(id, user, replay), user),
      /** The ids of the charges of this process's running calls, whose leases are renewed. */
      running: new Set<string>(),
      /** Renews the leases of running calls. */
      renew: Effect.fnUntraced(function* (charges: ReadonlyArray<string>) {
        if (charges.length === 0) return
        const until = lease(yield* Clock.currentTimeMillis)
        yield* commit(() => renew(charges, until))
      }),
      /** The clock of leases, shared by all servers of a database. */
      clock: sql.onDialectOrElse({
        orElse: (): Effect.Effect<number, SqlError.SqlError> => Clock.currentTimeMillis,
        pg: () => oneNumber(sql`SELECT ${sql.literal(SHARED_CLOCK)} AS n`)
      }),
      /** Open charges whose lease ended before a time; the oldest first. */
      expired: (before: number, of: keyof typeof CHARGE_KINDS) =>
        openCharges(sql`lease_until <= ${before} AND ${sql.literal(CHARGE_KINDS[of])}
          ORDER BY lease_until LIMIT ${EXPIRED_BATCH}`),
      /** The units that charges have taken from the balance: settled costs and open reserves. */
      taken: sumOf("CASE state WHEN 'settled' THEN cost WHEN 'refunded' THEN 0 ELSE reserved END"),
      /** The input tokens of settled charges. */
      inputTokens: sumOf("input_tokens"),
      deleteResponses: (before: number) => commit(() => deleteResponses(before)),
      /** Bytes of the responses that are stored for a user. */
      storedBytes: (user: string) => oneNumber(sql`SELECT stored_bytes AS n FROM users WHERE id = ${user}`)
    }
  })
}) {
  static readonly layer = Layer.effect(Ledger, Ledger.make)
}
