/** The balances: reserved before a call, settled by what it used or refunded after it, exactly once. */
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { randomBytes } from "node:crypto"
import type { Failure } from "@sluice/core"
import { claim, forget, type Idempotency, remember, type Replay } from "./Idempotency.ts"
import { countCall, type RateLimits, type RateState } from "./RateWindow.ts"
import { makeTurns } from "./Turns.ts"

/** How long a call that is not heard of is taken to be under way. */
export const LEASE_MS = 120_000

/** What is to be paid for. */
export interface Purchase {
  readonly user: string
  /** The API key's id; absent: the page's session, which the user's balance alone bounds. */
  readonly key?: number | undefined
  readonly operation: string
  readonly model: string
  /** Quota units at most. */
  readonly units: number
  /** Tokens at most, which count towards the key's limit. */
  readonly tokens: number
  /** It makes something elsewhere, and may have done so when nothing is heard of it. */
  readonly creates: boolean
  readonly limits: RateLimits
  readonly idempotency?: Idempotency | undefined
}

/** A reserve that is open. */
export interface Charge {
  readonly id: string
  readonly user: string
  readonly reserved: number
}

/** What a call came to. */
export interface Settlement {
  readonly cost: number
  readonly inputTokens: number
  readonly outputTokens: number
}

/** What becomes of a purchase. */
export type Reservation =
  | { readonly _tag: "Reserved"; readonly charge: Charge; readonly rate: RateState | undefined }
  | { readonly _tag: "Short"; readonly of: "user" | "key" }
  | { readonly _tag: "Limited"; readonly rate: RateState }
  | { readonly _tag: "Answered"; readonly replay: Replay }
  | { readonly _tag: "Refused"; readonly failure: Failure }

type Asked<A> = Effect.Effect<A, SqlError.SqlError>

/** A charge that is neither settled nor refunded. */
export interface OpenCharge extends Charge {
  readonly operation: string
  readonly model: string
  /** It may have made something, though nothing is heard of it. */
  readonly sent: boolean
  readonly task: string | undefined
  /** What the task will cost. */
  readonly planned: number
  readonly createdAt: number
}

interface Left {
  readonly units: number
}

interface Ended {
  readonly user_id: string
  readonly token_id: number | null
  readonly reserved: number
}

interface OpenRow extends Ended {
  readonly id: string
  readonly state: string
  readonly operation: string
  readonly model: string
  readonly task: string | null
  readonly planned: number
  readonly created_at: number
}

/** Charges that are recovered at once, at most. */
const EXPIRED_AT_ONCE = 200

/** Those of one time lie side by side in the index; the rest nobody guesses. */
const chargeId = (now: number): string =>
  `${now.toString(36).padStart(9, "0")}-${randomBytes(9).toString("base64url")}`

/** The largest quota of a key. */
const LARGEST = Number.MAX_SAFE_INTEGER

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
    readonly settle: (charge: string, settlement: Settlement) => Asked<boolean>
    /** The same some milliseconds later, for who does not wait for it: it shares its commit with the next reserve. */
    readonly settleSoon: (charge: string, settlement: Settlement) => Asked<boolean>
    readonly refund: (charge: string) => Asked<boolean>
    /** The call goes on as a task of this id: settled for what is planned, or refunded, when that ends. */
    readonly assign: (charge: string, task: string, planned: number) => Asked<void>
    /** The open charge of a task. */
    readonly ofTask: (user: string, task: string) => Asked<OpenCharge | undefined>
    /** Keeps the answer for whoever repeats the call. */
    readonly remember: (charge: Charge, replay: Replay) => Asked<void>
    /** Says that these are under way still. */
    readonly renew: (charges: ReadonlyArray<string>) => Asked<void>
    /** Open charges of which nothing was heard since; the oldest first. */
    readonly expired: (before: number) => Asked<ReadonlyArray<OpenCharge>>
    /** What these have taken from the balance: their costs, and the reserves of those that are open. */
    readonly taken: (charges: ReadonlyArray<string>) => Asked<number>
    readonly forgetAnswers: (before: number) => Asked<void>
  }
>()("@sluice/demo-server/Ledger") {
  static readonly layer = Layer.effect(
    Ledger,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { now: run, soon } = yield* makeTurns
      const OPEN = sql.literal("('reserved', 'sent')")
      const commit = <A>(step: Effect.Effect<A, SqlError.SqlError, SqlClient.SqlClient>) =>
        Effect.uninterruptible(run(Effect.provideService(step, SqlClient.SqlClient, sql)))

      const eventually = <A>(step: Effect.Effect<A, SqlError.SqlError, SqlClient.SqlClient>) =>
        Effect.uninterruptible(soon(Effect.provideService(step, SqlClient.SqlClient, sql)))

      const give = (user: string, key: number | null | undefined, units: number) =>
        Effect.gen(function* () {
          if (units === 0) return
          yield* sql`UPDATE users SET quota = quota + ${units} WHERE id = ${user}`
          if (key === null || key === undefined) return
          // A key may be given any quota meanwhile: the largest stays the largest, which a number can still tell.
          yield* sql`UPDATE tokens SET remain_quota = CASE WHEN remain_quota > ${LARGEST - units} THEN ${LARGEST}
            ELSE remain_quota + ${units} END WHERE id = ${key}`
        })

      /** From both balances or from neither; whose was short. */
      const take = (user: string, key: number | null | undefined, units: number) =>
        Effect.gen(function* () {
          if (units === 0) return undefined
          const paid = yield* sql`UPDATE users SET quota = quota - ${units}
            WHERE id = ${user} AND quota >= ${units} RETURNING id`
          if (paid.length === 0) return "user" as const
          if (key === null || key === undefined) return undefined
          const allowed = yield* sql`UPDATE tokens SET remain_quota = remain_quota - ${units}
            WHERE id = ${key} AND remain_quota >= ${units} RETURNING id`
          if (allowed.length > 0) return undefined
          yield* give(user, undefined, units)
          return "key" as const
        })

      /** Takes what both balances have of an amount; how much that was. */
      const collect = (user: string, key: number | null, units: number) =>
        Effect.gen(function* () {
          // Writing locks the rows: what is read here holds until the end of the transaction.
          const [owner] = yield* sql<Left>`UPDATE users SET quota = quota WHERE id = ${user}
            RETURNING quota AS units`
          const [token] = yield* sql<Left>`UPDATE tokens SET remain_quota = remain_quota WHERE id = ${key}
            RETURNING remain_quota AS units`
          // Of a key that was deleted meanwhile, the user's balance is all there is.
          const found = Math.min(units, Number(owner?.units ?? 0), Number(token?.units ?? units))
          yield* take(user, token === undefined ? null : key, found)
          return found
        })

      const reserve = Effect.fnUntraced(function* (
        id: string,
        now: number,
        { creates, idempotency, key, limits, model, operation, tokens, units, user }: Purchase
      ): Effect.fn.Return<Reservation, SqlError.SqlError, SqlClient.SqlClient> {
        const known = idempotency && (yield* claim(user, idempotency, id, now))
        if (known !== undefined) {
          return "answer" in known ? { _tag: "Answered", replay: known } : { _tag: "Refused", failure: known }
        }
        const release = idempotency === undefined ? Effect.void : forget(user, id)
        const short = yield* take(user, key, units)
        if (short !== undefined) {
          yield* release
          return { _tag: "Short", of: short }
        }
        const limited = limits.requestsPerMinute !== undefined || limits.tokensPerMinute !== undefined
        const rate = key === undefined || !limited ? undefined : yield* countCall(key, tokens, limits, now)
        if (rate?.admitted === false) {
          yield* give(user, key, units)
          yield* release
          return { _tag: "Limited", rate }
        }
        yield* sql`INSERT INTO charges ${sql.insert({
          id,
          user_id: user,
          token_id: key ?? null,
          operation,
          model,
          state: creates ? "sent" : "reserved",
          reserved: units,
          lease_until: now + LEASE_MS,
          created_at: now
        })}`
        return { _tag: "Reserved", charge: { id, user, reserved: units }, rate }
      })

      const settle = Effect.fnUntraced(function* (
        id: string,
        { cost, inputTokens, outputTokens }: Settlement
      ) {
        const used = { state: "settled", cost, input_tokens: inputTokens, output_tokens: outputTokens }
        const [row] = yield* sql<Ended>`UPDATE charges SET ${sql.update(used)}
          WHERE id = ${id} AND state IN ${OPEN} RETURNING user_id, token_id, reserved`
        if (row === undefined) return false
        const key = row.token_id === null ? null : Number(row.token_id)
        const above = cost - Number(row.reserved)
        if (above <= 0) {
          yield* give(row.user_id, key, -above)
          return true
        }
        const more = yield* collect(row.user_id, key, above)
        yield* sql`UPDATE charges SET ${sql.update({ cost: cost - above + more, uncollected: above - more })}
          WHERE id = ${id}`
        return true
      })

      const refund = Effect.fnUntraced(function* (id: string) {
        const [row] = yield* sql<Ended>`UPDATE charges SET state = 'refunded'
          WHERE id = ${id} AND state IN ${OPEN} RETURNING user_id, token_id, reserved`
        if (row === undefined) return false
        yield* give(row.user_id, row.token_id === null ? null : Number(row.token_id), Number(row.reserved))
        return true
      })

      const open = (row: OpenRow | undefined): OpenCharge | undefined =>
        row && {
          id: row.id,
          user: row.user_id,
          operation: row.operation,
          model: row.model,
          sent: row.state === "sent",
          task: row.task ?? undefined,
          planned: Number(row.planned),
          reserved: Number(row.reserved),
          createdAt: Number(row.created_at)
        }

      return {
        reserve: Effect.fnUntraced(function* (purchase) {
          const now = yield* Clock.currentTimeMillis
          return yield* commit(reserve(chargeId(now), now, purchase))
        }),
        settle: (charge, settlement) => commit(settle(charge, settlement)),
        settleSoon: (charge, settlement) => eventually(settle(charge, settlement)),
        refund: (charge) => commit(refund(charge)),
        assign: (charge, task, planned) =>
          commit(
            Effect.asVoid(sql`UPDATE charges SET ${sql.update({ task, planned })} WHERE id = ${charge}`)
          ),
        ofTask: (user, task) =>
          sql<OpenRow>`SELECT * FROM charges WHERE task = ${task} AND user_id = ${user} AND state IN ${OPEN}`.pipe(
            Effect.map(([row]) => open(row))
          ),
        remember: (charge, replay) => commit(remember(charge.id, charge.user, replay)),
        renew: Effect.fnUntraced(function* (charges) {
          if (charges.length === 0) return
          const until = (yield* Clock.currentTimeMillis) + LEASE_MS
          yield* commit(
            Effect.asVoid(sql`UPDATE charges SET lease_until = ${until} WHERE ${sql.in("id", charges)}`)
          )
        }),
        expired: (before) =>
          sql<OpenRow>`SELECT * FROM charges WHERE lease_until <= ${before} AND state IN ${OPEN}
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
          commit(Effect.asVoid(sql`DELETE FROM idempotency WHERE created_at <= ${before}`))
      }
    })
  )
}
