/** The first credentials, the printed login, and the page's sessions. */
import { Clock, Context, Duration, Effect, Layer, Record, Redacted, Ref, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { ServerConfig } from "../config/ServerConfig.ts"
import { Integer } from "../sql/Integer.ts"
import { StartError } from "../config/StartError.ts"
import { addOwner, hasUsers } from "./Owner.ts"
import { hashSecret, makeApiKey, makeSecret, makeSystemToken, matchesSecret, maskKey } from "./Secret.ts"
import { tableRows } from "../sql/Rows.ts"

/** How long the page stays signed in. */
export const SESSION_LIFE = Duration.days(30)

/** Sessions of one user at most. The one that expires first is removed. */
const MAX_SESSIONS = 100

const SessionRow = Schema.Struct({ user_id: Schema.String, token_id: Schema.NullOr(Integer) })

const { first } = tableRows(SessionRow)

/** Printed once, at the first start. Only their hashes are stored. Those that the configuration has are not printed. */
export interface Secrets {
  readonly apiKey: string | undefined
  readonly accessToken: string | undefined
}

/**
 * How the first administrator signs in, and the sessions of all users.
 *
 * **Details.** `login` is new at each start, kept in memory, and opens one session. A session is a random token. Its hash
 * is stored, so that the page stays signed in when the server restarts.
 */
export class SignIn extends Context.Service<SignIn>()("@sluice/demo-server/SignIn", {
  make: Effect.gen(function* () {
    const { data, database, firstSecrets } = yield* ServerConfig
    const sql = yield* SqlClient.SqlClient
    const context = yield* Effect.context<SqlClient.SqlClient>()
    const login = makeSecret("")
    const unused = yield* Ref.make(true)

    const where = database === undefined ? data : "the database of SLUICE_DATABASE_URL"
    const writeError = (error: SqlError.SqlError) =>
      new StartError({ message: `The accounts in ${where} cannot be written: ${error.message}` })

    const firstStart = Effect.gen(function* () {
      if (yield* Effect.mapError(hasUsers, writeError)) return undefined
      const made = { apiKey: makeApiKey(), accessToken: makeSystemToken() }
      const valueOf = (name: keyof typeof made) => {
        const given = firstSecrets[name]
        return given === undefined ? made[name] : Redacted.value(given)
      }
      const added = yield* Effect.mapError(
        addOwner({
          apiKey: hashSecret(valueOf("apiKey")),
          accessToken: hashSecret(valueOf("accessToken")),
          shown: maskKey(valueOf("apiKey"))
        }),
        writeError
      )
      // If several servers start on a new database, one of them creates the owner.
      const printed: Secrets = Record.map(made, (value, name) =>
        firstSecrets[name] === undefined ? value : undefined
      )
      return added ? printed : undefined
    })

    return {
      /** At the first start: creates the credentials and stores their hashes. Undefined at later starts. */
      firstStart: yield* Effect.cached(Effect.provide(firstStart, context)),
      login,
      /** Consumes the login; false if it is wrong or used. */
      redeemLogin: (candidate: string) =>
        matchesSecret(candidate, hashSecret(login)) ? Ref.getAndSet(unused, false) : Effect.succeed(false),
      /** Opens a session and returns its token. `key` is the id of the API key that opens it. */
      openSession: Effect.fn("SignIn.openSession")(function* (user: string, key?: number) {
        const token = makeSecret("")
        const now = yield* Clock.currentTimeMillis
        const session = {
          hash: hashSecret(token),
          user_id: user,
          token_id: key ?? null,
          expires_at: now + Duration.toMillis(SESSION_LIFE)
        }
        const open = Effect.gen(function* () {
          yield* sql`INSERT INTO sessions ${sql.insert(session)}`
          yield* sql`DELETE FROM sessions WHERE expires_at <= ${now} OR (user_id = ${user} AND hash NOT IN
              (SELECT hash FROM sessions WHERE user_id = ${user} ORDER BY expires_at DESC LIMIT ${MAX_SESSIONS}))`
        })
        yield* sql.withTransaction(open)
        return token
      }),
      /** The user of a session, and the key that opened it. */
      session: Effect.fn("SignIn.session")(function* (token: string) {
        const now = yield* Clock.currentTimeMillis
        const hash = hashSecret(token)
        return yield* first(sql`SELECT user_id, token_id FROM sessions
            WHERE hash = ${hash} AND expires_at > ${now}`)
      }),
      closeSession: (token: string) =>
        Effect.asVoid(sql`DELETE FROM sessions WHERE hash = ${hashSecret(token)}`)
    }
  })
}) {
  static readonly layer = Layer.effect(SignIn, SignIn.make)
}
