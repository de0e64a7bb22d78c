/** Who is let in to the page: the first start's credentials, the login that is printed, and sessions. */
import { Clock, Context, Duration, Effect, type FileSystem, Layer, type Path, Ref, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { ServerConfig } from "../config/ServerConfig.ts"
import { Integer } from "../sql/Integer.ts"
import { dataFolderError, StartError } from "../config/StartError.ts"
import { markMoved } from "./AccountsFile.ts"
import { addOwner, hasUsers } from "./Owner.ts"
import { hashSecret, makeApiKey, makeSecret, makeSystemToken, matchesSecret, shownOf } from "./Secret.ts"

/** How long the page stays signed in. */
export const SESSION_LIFE = Duration.days(30)

/** Sessions of a user that are kept at most; the one that expires first gives way. */
const SESSIONS = 100

const SessionRow = Schema.Struct({ user_id: Schema.String, token_id: Schema.NullOr(Integer) })
export type SessionRow = typeof SessionRow.Type

const decodeSessions = Schema.decodeUnknownEffect(Schema.Array(SessionRow))

/** Printed once, at the first start; only their hashes are kept. */
export interface Secrets {
  readonly apiKey: string
  readonly accessToken: string
}

/**
 * The first administrator's way in.
 *
 * **Details.** `login` is made anew at each start, lives in memory, and opens one session. A session is a random token
 * of which the hash is kept, so that the page stays signed in when the server restarts.
 */
export class Accounts extends Context.Service<
  Accounts,
  {
    /**
     * At the first start on a data folder: the credentials, which are on disk as hashes from then on. A start that fails
     * before anybody was told them makes none.
     */
    readonly firstStart: Effect.Effect<Secrets | undefined, StartError>
    readonly login: string
    /** Uses the login up; false when it is wrong or was used. */
    readonly redeem: (login: string) => Effect.Effect<boolean>
    /** A new session's token; of a session that a key opens, with the key's id. */
    readonly openSession: (user: string, key?: number) => Effect.Effect<string, SqlError.SqlError>
    /** Whose session it is, and the key that opened it. */
    readonly session: (token: string) => Effect.Effect<SessionRow | undefined, SqlError.SqlError>
    readonly closeSession: (token: string) => Effect.Effect<void, SqlError.SqlError>
  }
>()("@sluice/demo-server/Accounts") {
  static readonly layer = Layer.effect(
    Accounts,
    Effect.gen(function* () {
      const { data, database } = yield* ServerConfig
      const sql = yield* SqlClient.SqlClient
      const context = yield* Effect.context<FileSystem.FileSystem | Path.Path | SqlClient.SqlClient>()
      const login = makeSecret("")
      const unused = yield* Ref.make(true)

      const where = database === undefined ? data : "the database of SLUICE_DATABASE_URL"
      const cannotKeep = (error: SqlError.SqlError) =>
        new StartError({ message: `The accounts in ${where} cannot be written: ${error.message}` })

      const firstStart = Effect.gen(function* () {
        if (yield* Effect.mapError(hasUsers, cannotKeep)) return undefined
        const secrets: Secrets = { apiKey: makeApiKey(), accessToken: makeSystemToken() }
        if (database === undefined) yield* Effect.mapError(markMoved(data), dataFolderError(data))
        const added = yield* Effect.mapError(
          addOwner({
            apiKey: hashSecret(secrets.apiKey),
            accessToken: hashSecret(secrets.accessToken),
            shown: shownOf(secrets.apiKey)
          }),
          cannotKeep
        )
        // Of several servers that start on a new database, one tells.
        return added ? secrets : undefined
      })

      return {
        firstStart: yield* Effect.cached(Effect.provide(firstStart, context)),
        login,
        redeem: (candidate) =>
          matchesSecret(candidate, hashSecret(login)) ? Ref.getAndSet(unused, false) : Effect.succeed(false),
        openSession: Effect.fn("Accounts.openSession")(function* (user, key) {
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
              (SELECT hash FROM sessions WHERE user_id = ${user} ORDER BY expires_at DESC LIMIT ${SESSIONS}))`
          })
          yield* sql.withTransaction(open)
          return token
        }),
        session: Effect.fn("Accounts.session")(function* (token) {
          const now = yield* Clock.currentTimeMillis
          const hash = hashSecret(token)
          const rows = yield* sql`SELECT user_id, token_id FROM sessions
            WHERE hash = ${hash} AND expires_at > ${now}`
          return (yield* Effect.orDie(decodeSessions(rows)))[0]
        }),
        closeSession: (token) => Effect.asVoid(sql`DELETE FROM sessions WHERE hash = ${hashSecret(token)}`)
      }
    })
  )
}
