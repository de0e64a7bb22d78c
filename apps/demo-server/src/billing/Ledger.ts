/** The balances: units are reserved before a call, and settled or refunded after it, exactly once. */
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { query } from "../sql/SqlStep.ts"
import { storeResponse, type Replay } from "./Idempotency.ts"
import {
  chargeId,
  refundExpired,
  OPEN,
  ownLease,
  refund,
  renew,
  reserveAll,
  settleAll,
  SHARED_CLOCK,
  sharedLease
} from "./LedgerSteps.ts"
import type { Charge, ReservationRequest, Reservation, Settlement } from "./Reservation.ts"
import { GroupCommit, type Step } from "../sql/GroupCommit.ts"

export { LEASE_MS } from "./LedgerSteps.ts"
export type * from "./Reservation.ts"

type SqlEffect<A> = Effect.Effect<A, SqlError.SqlError>

/** A charge that is neither settled nor refunded yet. */
export interface OpenCharge extends Charge {
  readonly task: string | undefined
  /** The cost of the task in quota units. */
  readonly planned: number
}

interface Sum {
  readonly units: number
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
 * the rest of both balances, and what they do not cover is recorded as `uncollected`. For each charge, one call of
 * `settle` or `refund` has an effect and returns true. For each user, at any time: granted = quota + open reserves +
 * settled costs.
 *
 * **Gotchas.** Interruption does not stop a step that has started: it is committed.
 */
export class Ledger extends Context.Service<
  Ledger,
  {
    readonly reserve: (request: ReservationRequest) => SqlEffect<Reservation>
    /** Also settles a charge whose reserve was lost with a server or a commit, or refunded after its lease expired. */
    readonly settle: (charge: Charge, settlement: Settlement) => SqlEffect<boolean>
    /** `outcomeUnknown`: the call may have created something, so its `Idempotency-Key` must not create it again. */
    readonly refund: (charge: Charge, outcomeUnknown?: boolean) => SqlEffect<boolean>
    /** Refunds a charge whose lease has expired. */
    readonly refundExpired: (charge: Charge, outcomeUnknown: boolean) => SqlEffect<boolean>
    /** The call continues as a task. The charge is settled for `planned` units, or refunded, when the task ends. */
    readonly assign: (charge: string, task: string, planned: number) => SqlEffect<void>
    /** The open charge of a task. */
    readonly ofTask: (user: string, task: string) => SqlEffect<OpenCharge | undefined>
    /** Stores the response for callers who repeat the call. */
    readonly storeResponse: (charge: Charge, replay: Replay) => SqlEffect<void>
    /** The ids of the charges of this process's running calls, whose leases are renewed. */
    readonly running: Set<string>
    /** Renews the leases of running calls. */
    readonly renew: (charges: ReadonlyArray<string>) => SqlEffect<void>
    /** The clock of leases, shared by all servers of a database. */
    readonly clock: SqlEffect<number>
    /** Open charges whose lease ended before a time; the oldest first. */
    readonly expired: (before: number, of: keyof typeof CHARGE_KINDS) => SqlEffect<ReadonlyArray<OpenCharge>>
    /** The units that charges have taken from the balance: settled costs and open reserves. */
    readonly taken: (charges: ReadonlyArray<string>) => SqlEffect<number>
    readonly deleteResponses: (before: number) => SqlEffect<void>
  }
>()("@sluice/demo-server/Ledger") {
  static readonly layer = Layer.effect(
    Ledger,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const groups = yield* GroupCommit
      /** For steps that lock a charge before its user. */
      const commit = <A>(step: Step<A>, user?: string) =>
        Effect.uninterruptible(groups.commit(step, { user, locksOthers: true }))
      const OPEN_STATES = sql.literal(OPEN)
      const lease = sql.onDialectOrElse({ pg: () => sharedLease, orElse: () => ownLease })
      const reserving = reserveAll(lease)

      const open = (row: OpenRow | undefined): OpenCharge | undefined =>
        row && {
          id: row.id,
          user: row.user_id,
          key: row.token_id === null ? undefined : Number(row.token_id),
          operation: row.operation,
          model: row.model,
          task: row.task ?? undefined,
          planned: Number(row.planned),
          reserved: Number(row.reserved),
          createdAt: Number(row.created_at)
        }

      return {
        reserve: Effect.fnUntraced(function* (request) {
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
        settle: (charge, settlement) =>
          Effect.uninterruptible(groups.commitItem(settleAll, { charge, settlement }, { user: charge.user })),
        refund: ({ id, user }, outcomeUnknown) => commit(() => refund(id, outcomeUnknown), user),
        refundExpired: ({ id, user }, outcomeUnknown) =>
          commit(() => refundExpired(id, outcomeUnknown), user),
        assign: (charge, task, planned) =>
          commit(function* () {
            yield* query("UPDATE charges SET task = ?, planned = ? WHERE id = ?", task, planned, charge)
          }),
        ofTask: (user, task) =>
          sql<OpenRow>`SELECT * FROM charges WHERE task = ${task} AND user_id = ${user} AND state IN ${OPEN_STATES}`.pipe(
            Effect.map(([row]) => open(row))
          ),
        storeResponse: (charge, replay) =>
          commit(() => storeResponse(charge.id, charge.user, replay), charge.user),
        running: new Set(),
        renew: Effect.fnUntraced(function* (charges) {
          if (charges.length === 0) return
          const until = lease(yield* Clock.currentTimeMillis)
          yield* commit(() => renew(charges, until))
        }),
        clock: sql.onDialectOrElse({
          orElse: (): SqlEffect<number> => Clock.currentTimeMillis,
          pg: () =>
            Effect.map(sql<{ now: number }>`SELECT ${sql.literal(SHARED_CLOCK)} AS now`, ([row]) =>
              Number(row?.now)
            )
        }),
        expired: (before, of) =>
          sql<OpenRow>`SELECT * FROM charges WHERE lease_until <= ${before} AND ${sql.literal(CHARGE_KINDS[of])}
            ORDER BY lease_until LIMIT ${EXPIRED_BATCH}`.pipe(
            Effect.map((rows) => rows.flatMap((row) => open(row) ?? []))
          ),
        taken: Effect.fnUntraced(function* (charges) {
          if (charges.length === 0) return 0
          const [sum] = yield* sql<Sum>`SELECT SUM(CASE state WHEN 'settled' THEN cost
            WHEN 'refunded' THEN 0 ELSE reserved END) AS units FROM charges WHERE ${sql.in("id", charges)}`
          return Number(sum?.units ?? 0)
        }),
        deleteResponses: (before) =>
          commit(function* () {
            yield* query("DELETE FROM idempotency WHERE created_at <= ?", before)
          })
      }
    })
  )
}
