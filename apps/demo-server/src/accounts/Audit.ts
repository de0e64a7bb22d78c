/** Who changed what about the accounts, when, and from where. No secret is in it. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Integer } from "../sql/Integer.ts"
import { guarded } from "../sql/Transaction.ts"
import { Caller } from "./Caller.ts"

/** Characters of an address that are kept: a header may have named it. */
const ADDRESS = 64

/** What is changed. */
export type Action =
  | "user.create"
  | "user.update"
  | "access_token.create"
  | "token.create"
  | "token.update"
  | "token.remove"
  | "session.open"
  | "session.close"

/** What was done, to whom or what, and with which values; secrets are never among them. */
export interface Entry {
  readonly action: Action
  /** An id. */
  readonly subject: string
  readonly details?: Readonly<Record<string, unknown>>
  /** Who did it, where the request had to say it first: a session that is opened. */
  readonly actor?: string
}

export const AuditRow = Schema.Struct({
  id: Integer,
  at: Integer,
  actor: Schema.String,
  credential: Schema.String,
  address: Schema.String,
  action: Schema.String,
  subject: Schema.String,
  details: Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json))
})
export type AuditRow = typeof AuditRow.Type

const decode = Schema.decodeUnknownEffect(Schema.Array(AuditRow))

export class Audit extends Context.Service<
  Audit,
  {
    /** Makes a change and writes down what it was: both or neither. No entry: nothing was changed. */
    readonly changing: <A, E, R>(
      change: Effect.Effect<A, E, R>,
      entryOf: (result: A) => Entry | undefined
    ) => Effect.Effect<A, E | SqlError.SqlError, R>
    /** The newest first. */
    readonly list: (page: {
      readonly size: number
      readonly skip: number
    }) => Effect.Effect<ReadonlyArray<AuditRow>, SqlError.SqlError>
  }
>()("@sluice/demo-server/Audit") {
  static readonly layer = Layer.effect(
    Audit,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const write = Effect.fn("Audit.write")(function* ({ action, actor, details = {}, subject }: Entry) {
        const caller = yield* Caller
        const row = {
          at: yield* Clock.currentTimeMillis,
          actor: actor ?? caller.user,
          credential: caller.credential,
          address: caller.address.slice(0, ADDRESS),
          action,
          subject,
          details: JSON.stringify(details)
        }
        yield* sql`INSERT INTO audit ${sql.insert(row)}`
      })
      return {
        changing: (change, entryOf) =>
          Effect.gen(function* () {
            const result = yield* change
            const entry = entryOf(result)
            if (entry !== undefined) yield* write(entry)
            return result
          }).pipe(guarded, Effect.provideService(SqlClient.SqlClient, sql)),
        list: ({ size, skip }) =>
          Effect.flatMap(sql`SELECT * FROM audit ORDER BY id DESC LIMIT ${size} OFFSET ${skip}`, (rows) =>
            Effect.orDie(decode(rows))
          )
      }
    })
  )
}
