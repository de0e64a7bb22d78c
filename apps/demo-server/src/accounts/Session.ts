/** The page's session: opened by login, API key or system access token, carried by a cookie that no script can read. */
import { Failure } from "@sluice/core/contract"
import { Duration, Effect } from "effect"
import { HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { SESSION_COOKIE, Visitor } from "../contract/Access.ts"
import { ServerApi } from "../contract/ServerApi.ts"
import type { Credentials } from "../contract/Session.ts"
import { Accounts, SESSION_LIFE } from "./Accounts.ts"
import { type Admitted, callerAddress, makeAdmission } from "./Admission.ts"
import { Audit } from "./Audit.ts"
import { Caller } from "./Caller.ts"
import { OWNER } from "./Owner.ts"
import { crossOrigin } from "./PageUser.ts"
import { isCrossOrigin, isLocalRequest } from "../network/Origin.ts"
import { orUnavailable } from "../sql/StoreFailure.ts"
import { Users } from "./Users.ts"

const cookie = { path: "/", httpOnly: true, sameSite: "strict" } as const

/** `Secure` behind a proxy that says it speaks HTTPS; the server itself speaks plain HTTP. */
const withCookie = (value: string, maxAge: Duration.Duration) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ protocol }) =>
    HttpEffect.appendPreResponseHandler((_request, response) =>
      Effect.orDie(
        HttpServerResponse.setCookie(response, SESSION_COOKIE, value, {
          ...cookie,
          maxAge,
          secure: protocol === "https"
        })
      )
    )
  )

const refused = (message: string) =>
  new Failure({ status: 401, message, code: "invalid_login", retryable: false })

const usedUp = refused(
  "This address was used already or is from an earlier start: sign in with the API key, or restart the server for a new one"
)

/** What was printed may have been seen: from another machine it opens nothing. */
const elsewhere = refused(
  "The printed address signs in on the server's own machine only: sign in with an API key or a system access token here"
)

export const SessionLayer = HttpApiBuilder.group(
  ServerApi,
  "session",
  Effect.fn(function* (handlers) {
    const accounts = yield* Accounts
    const audit = yield* Audit
    const users = yield* Users
    const { byKey, byToken } = yield* makeAdmission

    /** Whom the credential lets in. */
    const admit = Effect.fn("session.admit")(function* (payload: typeof Credentials.Type) {
      if ("apiKey" in payload) return yield* byKey(payload.apiKey)
      if ("accessToken" in payload) return yield* byToken(payload.accessToken)
      const request = yield* HttpServerRequest.HttpServerRequest
      if (!isLocalRequest(request)) return yield* elsewhere
      if (!(yield* accounts.redeem(payload.login))) return yield* usedUp
      const owner = yield* orUnavailable(users.get(OWNER))
      return owner === undefined ? yield* usedUp : ({ user: owner, key: undefined } satisfies Admitted)
    })

    return handlers.handleAll({
      open: Effect.fn("session.open")(function* ({ payload }) {
        const request = yield* HttpServerRequest.HttpServerRequest
        if (isCrossOrigin(request)) return yield* crossOrigin(request)
        const { key, user } = yield* admit(payload)
        const session = audit
          .changing(accounts.openSession(user.id, key?.id), () => ({
            action: "session.open",
            subject: user.id,
            ...(key !== undefined && { details: { token: key.id } })
          }))
          .pipe(
            Effect.provideService(Caller, {
              user: user.id,
              credential: "session",
              address: yield* callerAddress,
              models: undefined
            })
          )
        yield* withCookie(yield* orUnavailable(session), SESSION_LIFE)
        return { user: user.id, username: user.username, role: user.role, by: "session" as const }
      }),
      who: () => Visitor,
      close: Effect.fn("session.close")(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        // Where it cannot be written, the session ends by itself.
        const { user } = yield* Visitor
        const close = audit.changing(accounts.closeSession(request.cookies[SESSION_COOKIE] ?? ""), () => ({
          action: "session.close",
          subject: user
        }))
        yield* Effect.ignore(orUnavailable(close))
        yield* withCookie("", Duration.zero)
      })
    })
  })
)
