/** The page's session in place of a credential: who is signed in may call the gateway from the page. */
import { Failure } from "@sluice/core/contract"
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { SESSION_COOKIE } from "../contract/Access.ts"
import { makeAdmission } from "./Admission.ts"
import { originHost, isSameOrigin } from "../network/Origin.ts"

/** Characters of a name that are repeated. */
const NAME = 200

/** A cookie was shown by what is not the page; or a proxy calls the server by another name than the page's. */
export const crossOrigin = ({ headers: { host, origin } }: HttpServerRequest.HttpServerRequest): Failure => {
  const names =
    origin === undefined || originHost(origin) === host
      ? ""
      : `. This page is at ${origin.slice(0, NAME)}, and the server was called as ${host}: where a proxy serves the page, it has to pass Host on`
  return new Failure({
    status: 403,
    message: `A session only works from the page itself: a program should send the API key${names}`,
    code: "cross_origin",
    retryable: false
  })
}

/**
 * Who is signed in, when a request carries no credential but the page's cookie.
 *
 * **Details.** A header is judged by itself: a wrong key with a right cookie is a wrong key. Reading is free, as
 * `isSameOrigin` says; all else is refused to another origin.
 */
export const makePageUser = Effect.gen(function* () {
  const { bySession } = yield* makeAdmission
  return Effect.fn("PageUser")(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const token = request.cookies[SESSION_COOKIE] ?? ""
    if (request.headers["authorization"] !== undefined || token === "") return undefined
    const admitted = yield* bySession(token)
    return admitted === undefined || isSameOrigin(request) ? admitted : yield* crossOrigin(request)
  })
})
