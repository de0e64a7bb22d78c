/** Who is let in: the API key, the system access token, and the page's sessions. */
import { Clock, Context, Duration, Effect, Layer, Ref, Semaphore } from "effect"
import { ServerConfig } from "../Config.ts"
import { dataFolderError, type StartError } from "../StartError.ts"
import { type AccountsRecord, FORMAT, openAccountsFile } from "./AccountsFile.ts"
import { hashSecret, makeSecret, matchesSecret } from "./Secret.ts"

/** How long the page stays signed in. */
export const SESSION_LIFE = Duration.days(30)

/** Sessions kept at most; the one that expires first gives way. */
const SESSIONS = 100

/** Printed once, at the first start; only their hashes are kept. */
export interface Secrets {
  readonly apiKey: string
  readonly accessToken: string
}

/**
 * The owner's credentials.
 *
 * **Details.** The API key opens `/v1` and the documents, the system access token `/api`. `login` is made anew at each
 * start, lives in memory, and opens one session. A session is a random token of which the hash is kept, so that the
 * page stays signed in when the server restarts.
 */
export class Accounts extends Context.Service<
  Accounts,
  {
    /**
     * At the first start on a data folder: the credentials, which are on disk as hashes from then on. A start that fails
     * before anybody was told them leaves nothing behind.
     */
    readonly firstStart: Effect.Effect<Secrets | undefined, StartError>
    readonly login: string
    readonly isApiKey: (candidate: string) => boolean
    readonly isAccessToken: (candidate: string) => boolean
    /** Uses the login up; false when it is wrong or was used. */
    readonly redeem: (login: string) => Effect.Effect<boolean>
    /** A new session's token. */
    readonly openSession: Effect.Effect<string>
    readonly isSession: (token: string) => Effect.Effect<boolean>
    readonly closeSession: (token: string) => Effect.Effect<void>
  }
>()("@sluice/demo-server/Accounts") {
  static readonly layer = Layer.effect(
    Accounts,
    Effect.gen(function* () {
      const { data } = yield* ServerConfig
      const file = yield* openAccountsFile(data)
      const fresh =
        file.found === undefined ? { apiKey: makeSecret("sk-"), accessToken: makeSecret("sat-") } : undefined
      const start: AccountsRecord = file.found ?? {
        format: FORMAT,
        apiKey: hashSecret(fresh?.apiKey ?? ""),
        accessToken: hashSecret(fresh?.accessToken ?? ""),
        sessions: []
      }
      const record = yield* Ref.make(start)
      const oneAtATime = yield* Semaphore.make(1)
      // A session that cannot be written still works until the server stops.
      const update = (change: (record: AccountsRecord) => AccountsRecord) =>
        Ref.updateAndGet(record, change).pipe(
          Effect.flatMap(file.save),
          Effect.catch((error) =>
            Effect.logWarning(
              `Sessions could not be saved: ${error.message}. The page will ask to sign in again after a restart`
            )
          ),
          oneAtATime.withPermits(1)
        )

      const login = makeSecret("")
      const unused = yield* Ref.make(true)

      return {
        firstStart:
          fresh === undefined
            ? Effect.undefined
            : Effect.as(Effect.mapError(file.save(start), dataFolderError(data)), fresh),
        login,
        isApiKey: (candidate) => matchesSecret(candidate, start.apiKey),
        isAccessToken: (candidate) => matchesSecret(candidate, start.accessToken),
        redeem: (candidate) =>
          matchesSecret(candidate, hashSecret(login)) ? Ref.getAndSet(unused, false) : Effect.succeed(false),
        openSession: Effect.gen(function* () {
          const token = makeSecret("")
          const now = yield* Clock.currentTimeMillis
          const session = { token: hashSecret(token), expires: now + Duration.toMillis(SESSION_LIFE) }
          yield* update((record) => ({
            ...record,
            sessions: [...record.sessions.filter(({ expires }) => expires > now), session].slice(-SESSIONS)
          }))
          return token
        }),
        isSession: Effect.fn("Accounts.isSession")(function* (token) {
          const now = yield* Clock.currentTimeMillis
          const { sessions } = yield* Ref.get(record)
          return sessions.some((session) => session.expires > now && matchesSecret(token, session.token))
        }),
        closeSession: (token) =>
          update((record) => ({
            ...record,
            sessions: record.sessions.filter((session) => !matchesSecret(token, session.token))
          }))
      }
    })
  )
}
