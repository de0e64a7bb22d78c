/** The page's session: opened by login or API key, carried by a cookie that no script can read. */
import { Failure } from "@sluice/core"
import { Duration, Effect } from "effect"
import { HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { SESSION_COOKIE, Visitor } from "../contract/Access.ts"
import { ServerApi } from "../contract/ServerApi.ts"
import { Accounts, SESSION_LIFE } from "./Accounts.ts"
import { makeAdmission } from "./Admission.ts"
import { orUnavailable } from "./StoreFailure.ts"

/** Not `Secure`: the server speaks plain HTTP, on loopback unless told otherwise. */
const cookie = { path: "/", httpOnly: true, sameSite: "strict" } as const

const withCookie = (value: string, maxAge: Duration.Duration) =>
  HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.orDie(HttpServerResponse.setCookie(response, SESSION_COOKIE, value, { ...cookie, maxAge }))
  )

const refused = (message: string) =>
  new Failure({ status: 401, message, code: "invalid_login", retryable: false })

export const SessionLayer = HttpApiBuilder.group(
  ServerApi,
  "session",
  Effect.fn(function* (handlers) {
    const accounts = yield* Accounts
    const { byOwnersKey } = yield* makeAdmission
    return handlers.handleAll({
      open: Effect.fn("session.open")(function* ({ payload }) {
        if ("login" in payload) {
          if (!(yield* accounts.redeem(payload.login))) {
            return yield* refused(
              "This address was used already or is from an earlier start: sign in with the API key, or restart the server for a new one"
            )
          }
        } else {
          yield* byOwnersKey(payload.apiKey)
        }
        yield* withCookie(yield* orUnavailable(accounts.openSession), SESSION_LIFE)
        return { user: "owner" as const, by: "session" as const }
      }),
      who: () => Visitor,
      close: Effect.fn("session.close")(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        // Where it cannot be written, the session ends by itself.
        yield* Effect.ignore(orUnavailable(accounts.closeSession(request.cookies[SESSION_COOKIE] ?? "")))
        yield* withCookie("", Duration.zero)
      })
    })
  })
)
