/** Invitation links. The first person who opens one becomes the user that an administrator described. */
import { Failure } from "@sluice/core/contract"
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Role } from "../contract/Access.ts"
import { Integer } from "../sql/Integer.ts"
import { tableRows } from "../sql/Rows.ts"
import { hashSecret, makeSecret } from "./Secret.ts"
import { Users } from "./Users.ts"

const HOUR_MS = 60 * 60 * 1000

const { first } = tableRows(Schema.Struct({ username: Schema.String, role: Role, quota: Integer }))

/** The same for an unknown, an expired and a used link. */
export const invalidInvitation = new Failure({
  status: 401,
  message: "This invitation is not valid: it works once, and for a limited time. Ask for a new one",
  code: "invalid_login"
})

const usernameTaken = new Failure({
  status: 409,
  message: "The username of this invitation is taken by now. Ask for a new one",
  code: "username_taken"
})

interface Invited {
  readonly username: string
  readonly role: Role
  readonly quota: number
}

export class Invitations extends Context.Service<Invitations>()("@sluice/demo-server/Invitations", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const users = yield* Users
    return {
      /** Returns the link's secret, and when it expires, in epoch milliseconds. Only its hash is stored. */
      create: Effect.fn("Invitations.create")(function* (invited: Invited, hours: number) {
        const secret = makeSecret("")
        const now = yield* Clock.currentTimeMillis
        const expires = now + hours * HOUR_MS
        yield* sql`DELETE FROM invitations WHERE expires_at <= ${now}`
        yield* sql`INSERT INTO invitations ${sql.insert({ hash: hashSecret(secret), ...invited, expires_at: expires })}`
        return { expires, secret }
      }),
      /** Takes an invitation and creates its user. Part of a transaction: a failure leaves the invitation. */
      accept: Effect.fn("Invitations.accept")(function* (secret: string) {
        const now = yield* Clock.currentTimeMillis
        const invited = yield* first(sql`DELETE FROM invitations
          WHERE hash = ${hashSecret(secret)} AND expires_at > ${now} RETURNING username, role, quota`)
        if (invited === undefined) return yield* invalidInvitation
        const { quota, ...fields } = invited
        return (yield* users.create({ ...fields, status: 1 }, quota)) ?? (yield* usernameTaken)
      })
    }
  })
}) {
  static readonly layer = Layer.effect(Invitations, Invitations.make)
}
