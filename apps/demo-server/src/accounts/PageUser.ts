/** The page's session in place of a credential: who is signed in may call the gateway from the page. */
import { Failure } from "@sluice/core"
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { SESSION_COOKIE } from "../contract/Access.ts"
import { Accounts } from "./Accounts.ts"
import { OWNER } from "./Owner.ts"
import { isSameOrigin } from "./SameOrigin.ts"
import { orUnavailable } from "./StoreFailure.ts"

/** A cookie was shown by what is not the page. */
export const crossOrigin = new Failure({
  status: 403,
  message: "A session only works from the page itself: a program should send the API key",
  code: "cross_origin",
  retryable: false
})

/**
 * The user of the session, when a request carries no credential but the page's cookie.
 *
 * **Details.** A header is judged by itself: a wrong key with a right cookie is a wrong key. Reading is free, as
 * `isSameOrigin` says; all else is refused to another origin.
 */
export const makePageUser = Effect.gen(function* () {
  const accounts = yield* Accounts
  return Effect.fn("PageUser")(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const token = request.cookies[SESSION_COOKIE] ?? ""
    if (request.headers["authorization"] !== undefined || token === "") return undefined
    if (!(yield* orUnavailable(accounts.isSession(token)))) return undefined
    return isSameOrigin(request) ? OWNER : yield* crossOrigin
  })
})
