/** The balances: reserved before a call, settled by what it used or refunded after it, exactly once. */
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { query } from "../sql/SqlStep.ts"
import { remember, type Replay } from "./Idempotency.ts"
import {
  chargeId,
  giveUp,
  OPEN,
  ownLease,
  refund,
  renew,
  reserveAll,
  settleAll,
  SHARED_CLOCK,
  sharedLease
} from "./LedgerSteps.ts"
import type { Charge, Purchase, Reservation, Settlement } from "./Reservation.ts"
import { GroupCommit, type Step } from "../sql/GroupCommit.ts"

export { LEASE_MS } from "./LedgerSteps.ts"
export type * from "./Reservation.ts"

type Asked<A> = Effect.Effect<A, SqlError.SqlError>

/** A charge that is neither settled nor refunded. */
export interface OpenCharge extends Charge {
  readonly task: string | undefined
  /** What the task will cost. */
  readonly planned: number
}

interface Left {
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

/** Open charges: of calls that make nothing; of what may have been made, though nothing is heard of it; of tasks. */
const UNHEARD = {
  calls: "state = 'reserved'",
  creations: "state = 'sent' AND task IS NULL",
  tasks: "state = 'sent' AND task IS NOT NULL"
}

/** Charges that are recovered at once, at most. */
const EXPIRED_AT_ONCE = 200

/**
 * The ledger.
 *
 * **Details.** Both balances, the user's and the key's, are guarded by the database, so that they hold for all servers
 * on it. A cost above the reserve takes what remains of both; what does not is recorded as `uncollected`. Of each
 * charge, one call of `settle` or `refund` has an effect: it answers true. For each user, at any time:
 * granted = quota + open reserves + settled costs.
 *
 * **Gotchas.** Each step is committed once it is begun, even where its caller has gone.
 */
export class Ledger extends Context.Service<
  Ledger,
  {
    readonly reserve: (purchase: Purchase) => Asked<Reservation>
    /** Of a charge whose reserve was lost, too, with a server that ended or a commit that failed, or given up. */
    readonly settle: (charge: Charge, settlement: Settlement) => Asked<boolean>
    /** `inDoubt`: what it makes may be there all the same, and no `Idempotency-Key` makes it again. */
    readonly refund: (charge: Charge, inDoubt?: boolean) => Asked<boolean>
    /** `refund` of a charge of which nothing is heard any more. */
    readonly giveUp: (charge: Charge, inDoubt: boolean) => Asked<boolean>
    /** The call goes on as a task of this id: settled for what is planned, or refunded, when that ends. */
    readonly assign: (charge: string, task: string, planned: number) => Asked<void>
    /** The open charge of a task. */
    readonly ofTask: (user: string, task: string) => Asked<OpenCharge | undefined>
    /** Keeps the answer for whoever repeats the call. */
    readonly remember: (charge: Charge, replay: Replay) => Asked<void>
    /** Charges of calls under way in this process. */
    readonly underWay: Set<string>
    /** Says that these are under way still. */
    readonly renew: (charges: ReadonlyArray<string>) => Asked<void>
    /** The time by which leases end, on all servers of a database. */
    readonly clock: Asked<number>
    /** Open charges of which nothing was heard since; the oldest first. */
    readonly expired: (before: number, of: keyof typeof UNHEARD) => Asked<ReadonlyArray<OpenCharge>>
    /** What these have taken from the balance: their costs, and the reserves of those that are open. */
    readonly taken: (charges: ReadonlyArray<string>) => Asked<number>
    readonly forgetAnswers: (before: number) => Asked<void>
  }
>()("@sluice/demo-server/Ledger") {
  static readonly layer = Layer.effect(
    Ledger,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const groups = yield* GroupCommit
      /** Steps that lock a charge before its user. */
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
        reserve: Effect.fnUntraced(function* (purchase) {
          const now = yield* Clock.currentTimeMillis
          const id = chargeId(now)
          // Recovery refunds an open reserve of a call that creates nothing: it need not survive the process.
          const options = {
            user: purchase.user,
            durable: purchase.creates,
            locksOthers: purchase.idempotency !== undefined
          }
          return yield* Effect.uninterruptible(groups.commitItem(reserving, { id, now, purchase }, options))
        }),
        settle: (charge, settlement) =>
          Effect.uninterruptible(groups.commitItem(settleAll, { charge, settlement }, { user: charge.user })),
        refund: ({ id, user }, inDoubt) => commit(() => refund(id, inDoubt), user),
        giveUp: ({ id, user }, inDoubt) => commit(() => giveUp(id, inDoubt), user),
        assign: (charge, task, planned) =>
          commit(function* () {
            yield* query("UPDATE charges SET task = ?, planned = ? WHERE id = ?", task, planned, charge)
          }),
        ofTask: (user, task) =>
          sql<OpenRow>`SELECT * FROM charges WHERE task = ${task} AND user_id = ${user} AND state IN ${OPEN_STATES}`.pipe(
            Effect.map(([row]) => open(row))
          ),
        remember: (charge, replay) => commit(() => remember(charge.id, charge.user, replay), charge.user),
        underWay: new Set(),
        renew: Effect.fnUntraced(function* (charges) {
          if (charges.length === 0) return
          const until = lease(yield* Clock.currentTimeMillis)
          yield* commit(() => renew(charges, until))
        }),
        clock: sql.onDialectOrElse({
          orElse: (): Asked<number> => Clock.currentTimeMillis,
          pg: () =>
            Effect.map(sql<{ now: number }>`SELECT ${sql.literal(SHARED_CLOCK)} AS now`, ([row]) =>
              Number(row?.now)
            )
        }),
        expired: (before, of) =>
          sql<OpenRow>`SELECT * FROM charges WHERE lease_until <= ${before} AND ${sql.literal(UNHEARD[of])}
            ORDER BY lease_until LIMIT ${EXPIRED_AT_ONCE}`.pipe(
            Effect.map((rows) => rows.flatMap((row) => open(row) ?? []))
          ),
        taken: Effect.fnUntraced(function* (charges) {
          if (charges.length === 0) return 0
          const [sum] = yield* sql<Left>`SELECT SUM(CASE state WHEN 'settled' THEN cost
            WHEN 'refunded' THEN 0 ELSE reserved END) AS units FROM charges WHERE ${sql.in("id", charges)}`
          return Number(sum?.units ?? 0)
        }),
        forgetAnswers: (before) =>
          commit(function* () {
            yield* query("DELETE FROM idempotency WHERE created_at <= ?", before)
          })
      }
    })
  )
}
