/** The audit log: who changed which account data, when, and from where. It has no secrets. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Integer } from "../sql/Integer.ts"
import { tableRows } from "../sql/Rows.ts"
import { readCommitted } from "../sql/Transaction.ts"
import { CurrentCaller } from "./Caller.ts"
import type { ListPage } from "./Users.ts"

/** Characters of an address that are stored. It may come from a header. */
const MAX_ADDRESS = 64

type Action =
  | "user.create"
  | "user.update"
  | "access_token.create"
  | "token.create"
  | "token.update"
  | "token.remove"
  | "session.open"
  | "session.close"
  | "members.update"
  | "invitation.create"
  | "connection.try"
  | "connection.save"
  | "connection.remove"
  | "local_models.download"
  | "local_models.use"

/** A change, without secrets. */
export interface AuditChange {
  readonly action: Action
  /** The id of what was changed. */
  readonly subject: string
  readonly details?: Readonly<Record<string, unknown>>
  /** The user, if the request itself authenticates: opening a session. */
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

const { rows } = tableRows(AuditRow)

export class Audit extends Context.Service<Audit>()("@sluice/demo-server/Audit", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const write = Effect.fn("Audit.write")(function* ({ action, actor, details = {}, subject }: AuditChange) {
      const caller = yield* CurrentCaller
      const row = {
        at: yield* Clock.currentTimeMillis,
        actor: actor ?? caller.user,
        credential: caller.credential,
        address: caller.address.slice(0, MAX_ADDRESS),
        action,
        subject,
        details: JSON.stringify(details)
      }
      yield* sql`INSERT INTO audit ${sql.insert(row)}`
    })
    return {
      /** Runs a change and logs it, in one transaction. Logs nothing if `entryOf` returns undefined. */
      record: <A, E, R>(change: Effect.Effect<A, E, R>, entryOf: (result: A) => AuditChange | undefined) =>
        Effect.gen(function* () {
          const result = yield* change
          const entry = entryOf(result)
          if (entry !== undefined) yield* write(entry)
          return result
        }).pipe(readCommitted, Effect.provideService(SqlClient.SqlClient, sql)),
      /** Newest first. */
      list: ({ size, skip }: ListPage) =>
        rows(sql`SELECT * FROM audit ORDER BY id DESC LIMIT ${size} OFFSET ${skip}`)
    }
  })
}) {
  static readonly layer = Layer.effect(Audit, Audit.make)
}
