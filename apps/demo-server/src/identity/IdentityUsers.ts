/** The users of an identity provider, and sign-ins that have begun. */
import { Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../accounts/Audit.ts"
import { hashSecret } from "../accounts/Secret.ts"
import { UserRow, Users } from "../accounts/Users.ts"
import { tableRows } from "../sql/Rows.ts"
import type { ExpectedSignIn, VerifiedIdentity } from "./OpenIdConnect.ts"

/** How long a person may take to sign in at the provider: 10 minutes. */
const SIGN_IN_MILLIS = 10 * 60 * 1000

/** Sign-ins of the whole server that have begun at most. The oldest end first. */
const MAX_SIGN_INS = 10_000

/** Characters of a name that is taken over. */
const MAX_NAME = 80

/** Users of one name at most that the provider may have. */
const MAX_NAMESAKES = 1_000

const { first: firstSignIn } = tableRows(Schema.Struct({ nonce: Schema.String, verifier: Schema.String }))
const { first: firstUser } = tableRows(UserRow)

export const makeIdentityUsers = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const users = yield* Users
  const audit = yield* Audit

  /** Creates a user under the provider's name, with a number if it is taken: a name never gives access to another user. */
  const create = Effect.fnUntraced(function* ({ issuer, name, subject }: VerifiedIdentity, quota: number) {
    const wanted =
      (name ?? subject)
        .replaceAll(/\p{Cc}/gu, "")
        .slice(0, MAX_NAME)
        .toWellFormed() || "user"
    for (let n = 1; n <= MAX_NAMESAKES; n++) {
      const username = n === 1 ? wanted : `${wanted} ${n}`
      const user = yield* users.create({ username, role: "user", status: 1 }, quota)
      if (user === undefined) continue
      yield* sql`INSERT INTO identities ${sql.insert({ issuer, subject, user_id: user.id })}`
      return user
    }
    return undefined
  })

  return {
    /** Stores a sign-in that begins. `browser` is the secret of the cookie that must come back with it. */
    begin: Effect.fn("IdentityUsers.begin")(function* (
      { nonce, state, verifier }: ExpectedSignIn,
      browser: string
    ) {
      const now = yield* Clock.currentTimeMillis
      yield* sql`DELETE FROM sign_ins WHERE expires_at <= ${now} OR state NOT IN
        (SELECT state FROM sign_ins ORDER BY expires_at DESC LIMIT ${MAX_SIGN_INS})`
      yield* sql`INSERT INTO sign_ins ${sql.insert({
        state: hashSecret(state),
        browser: hashSecret(browser),
        nonce,
        verifier,
        expires_at: now + SIGN_IN_MILLIS
      })}`
    }),
    /** Takes a sign-in, once. Undefined if it is unknown, expired, used, or of another browser. */
    take: Effect.fn("IdentityUsers.take")(function* (state: string, browser: string) {
      const now = yield* Clock.currentTimeMillis
      const found = yield* firstSignIn(sql`DELETE FROM sign_ins WHERE state = ${hashSecret(state)}
        AND browser = ${hashSecret(browser)} AND expires_at > ${now} RETURNING nonce, verifier`)
      return found && ({ state, ...found } satisfies ExpectedSignIn)
    }),
    /** The user of an identity, with the groups of this sign-in. Undefined: unknown, and none is created without `quota`. */
    userOf: (identity: VerifiedIdentity, quota: number | undefined) =>
      audit.record(
        Effect.gen(function* () {
          const { groups, issuer, subject } = identity
          const known = yield* firstUser(sql`SELECT users.* FROM users
            JOIN identities ON identities.user_id = users.id WHERE issuer = ${issuer} AND subject = ${subject}`)
          const user = known ?? (quota === undefined ? undefined : yield* create(identity, quota))
          if (user === undefined) return undefined
          yield* sql`DELETE FROM user_groups WHERE user_id = ${user.id}`
          for (const name of new Set(groups))
            yield* sql`INSERT INTO user_groups ${sql.insert({ user_id: user.id, name })}`
          return { user, isNew: known === undefined }
        }),
        (found) =>
          found?.isNew === true
            ? {
                action: "user.create",
                subject: found.user.id,
                actor: found.user.id,
                details: { username: found.user.username, quota: quota ?? 0, issuer: identity.issuer }
              }
            : undefined
      )
  }
})
