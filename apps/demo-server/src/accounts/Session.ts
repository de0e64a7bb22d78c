/** The page's session: opened with the login, an API key or a system access token, and carried by an HttpOnly cookie. */
import { Failure } from "@sluice/core/contract"
import { Duration, Effect } from "effect"
import { HttpEffect, HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { CurrentUser } from "../contract/Access.ts"
import { ServedApi } from "../http/ServedApi.ts"
import type { Credentials } from "../contract/Session.ts"
import { sessionTokenOf, setSessionCookie } from "./SessionCookie.ts"
import { SignIn, SESSION_LIFE } from "./SignIn.ts"
import { callerAddress, crossOrigin, type Identity, makeAuthenticator } from "./Authenticator.ts"
import { Audit } from "./Audit.ts"
import { Invitations } from "./Invitations.ts"
import { CurrentCaller } from "./Caller.ts"
import { OWNER } from "./Owner.ts"
import { isCrossOrigin, isLocalRequest } from "../network/Origin.ts"
import { catchSqlError } from "../sql/StoreFailure.ts"
import { Users } from "./Users.ts"

const withCookie = (value: string, maxAge: Duration.Duration) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    HttpEffect.appendPreResponseHandler((_request, response) =>
      Effect.succeed(setSessionCookie(response, request, value, maxAge))
    )
  )

const invalidLogin = (message: string) => new Failure({ status: 401, message, code: "invalid_login" })

const loginUsed = invalidLogin(
  "This address was already used or is from an earlier start. Sign in with an API key, or restart the server for a new address"
)

/** The printed login may leak with the terminal's output, so it does not work from other machines. */
const notLocal = invalidLogin(
  "The printed address works on the server's own machine only. Sign in with an API key or a system access token"
)

export const SessionLayer = HttpApiBuilder.group(
  ServedApi,
  "session",
  Effect.fn(function* (handlers) {
    const signIn = yield* SignIn
    const audit = yield* Audit
    const users = yield* Users
    const invitations = yield* Invitations
    const { byKey, byToken } = yield* makeAuthenticator

    const authenticate = Effect.fn("session.admit")(function* (payload: typeof Credentials.Type) {
      if ("apiKey" in payload) return yield* byKey(payload.apiKey)
      if ("accessToken" in payload) return yield* byToken(payload.accessToken)
      if ("invitation" in payload) {
        const user = yield* catchSqlError(
          audit.record(invitations.accept(payload.invitation), ({ id, quota, role, username }) => ({
            action: "user.create",
            subject: id,
            actor: id,
            details: { username, role, quota }
          }))
        )
        return { user, key: undefined } satisfies Identity
      }
      const request = yield* HttpServerRequest.HttpServerRequest
      if (!isLocalRequest(request)) return yield* notLocal
      if (!(yield* signIn.redeemLogin(payload.login))) return yield* loginUsed
      const owner = yield* catchSqlError(users.get(OWNER))
      return owner === undefined ? yield* loginUsed : ({ user: owner, key: undefined } satisfies Identity)
    })

    return handlers.handleAll({
      open: Effect.fn("session.open")(function* ({ payload }) {
        const request = yield* HttpServerRequest.HttpServerRequest
        if (isCrossOrigin(request)) return yield* crossOrigin(request)
        const { key, user } = yield* authenticate(payload)
        const session = audit
          .record(signIn.openSession(user.id, key?.id), () => ({
            action: "session.open",
            subject: user.id,
            ...(key !== undefined && { details: { token: key.id } })
          }))
          .pipe(
            Effect.provideService(CurrentCaller, {
              user: user.id,
              credential: "session",
              address: callerAddress(yield* HttpServerRequest.HttpServerRequest),
              models: undefined
            })
          )
        yield* withCookie(yield* catchSqlError(session), SESSION_LIFE)
        return { user: user.id, username: user.username, role: user.role, by: "session" as const }
      }),
      who: () => CurrentUser,
      close: Effect.fn("session.close")(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        // If the database fails, the session ends when it expires.
        const { user } = yield* CurrentUser
        const close = audit.record(signIn.closeSession(sessionTokenOf(request) ?? ""), () => ({
          action: "session.close",
          subject: user
        }))
        yield* Effect.ignore(catchSqlError(close))
        yield* withCookie("", Duration.zero)
      })
    })
  })
)
