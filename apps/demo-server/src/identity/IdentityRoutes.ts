/** Sign-in by OpenID Connect: the way to the provider, and back. */
import { Effect } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { Audit } from "../accounts/Audit.ts"
import { callerAddress } from "../accounts/Authenticator.ts"
import { CurrentCaller } from "../accounts/Caller.ts"
import { makeSecret } from "../accounts/Secret.ts"
import { sessionCookieOf, setSessionCookie } from "../accounts/SessionCookie.ts"
import { SESSION_LIFE, SignIn } from "../accounts/SignIn.ts"
import { OIDC_PATH, type SignInProblem } from "../contract/Session.ts"
import { respond } from "../http/HttpErrors.ts"
import { requestOrigin } from "../network/Origin.ts"
import { catchSqlError } from "../sql/StoreFailure.ts"
import { makeIdentityUsers } from "./IdentityUsers.ts"
import { makeOpenIdConnect } from "./OpenIdConnect.ts"

const CALLBACK = `${OIDC_PATH}/callback`

type Request = HttpServerRequest.HttpServerRequest

/** Lax, because the provider's page leads back here. It opens nothing: it only proves that the same browser comes back. */
const browserCookie = (request: Request) => `${sessionCookieOf(request)}_oidc`

const setBrowserCookie = (response: HttpServerResponse.HttpServerResponse, request: Request, value: string) =>
  HttpServerResponse.setCookieUnsafe(response, browserCookie(request), value, {
    path: OIDC_PATH,
    httpOnly: true,
    sameSite: "lax",
    secure: request.protocol === "https",
    ...(value === "" && { maxAge: 0 })
  })

const noStore = { headers: { "cache-control": "no-store", "referrer-policy": "no-referrer" } }

/** Back to the page, always to its start: an address from the request would be an open redirect. */
const toPage = (problem?: SignInProblem) =>
  HttpServerResponse.redirect(problem === undefined ? "/" : `/#problem=${problem}`, noStore)

export const IdentityLayer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const provider = yield* makeOpenIdConnect
    if (provider === undefined) return
    const identities = yield* makeIdentityUsers
    const signIn = yield* SignIn
    const audit = yield* Audit

    const begin = Effect.fn("identity.begin")(function* (request: Request) {
      const { expected, url } = yield* provider.begin(requestOrigin(request) + CALLBACK)
      const browser = makeSecret("")
      yield* catchSqlError(identities.begin(expected, browser))
      return setBrowserCookie(HttpServerResponse.redirect(url, noStore), request, browser)
    })

    const complete = Effect.fn("identity.complete")(function* (request: Request) {
      const callback = new URL(request.url, requestOrigin(request))
      const state = callback.searchParams.get("state") ?? ""
      const browser = request.cookies[browserCookie(request)] ?? ""
      const expected = yield* catchSqlError(identities.take(state, browser))
      if (expected === undefined) return toPage("expired")
      const identity = yield* provider.complete(callback, expected)
      const found = yield* catchSqlError(identities.userOf(identity, provider.settings.quota))
      if (found === undefined) return toPage("unknown_user")
      const { user } = found
      if (user.status !== 1) return toPage("disabled")
      const opening = audit.record(signIn.openSession(user.id), () => ({
        action: "session.open",
        subject: user.id,
        details: { issuer: identity.issuer }
      }))
      const token = yield* catchSqlError(opening).pipe(
        Effect.provideService(CurrentCaller, {
          user: user.id,
          credential: "session",
          address: callerAddress(request),
          models: undefined
        })
      )
      return setSessionCookie(toPage(), request, token, SESSION_LIFE)
    })

    const handle = (serve: typeof begin) => (request: Request) =>
      serve(request).pipe(
        Effect.catchTag("IdentityError", ({ cause }) =>
          // Without the cause's text in the response: it may have parts of tokens.
          Effect.as(Effect.logWarning("A sign-in by OpenID Connect failed", cause), toPage("failed"))
        ),
        Effect.catchTag("Failure", (failure) => Effect.succeed(respond(failure)))
      )
    yield* router.add("GET", OIDC_PATH, handle(begin))
    yield* router.add("GET", CALLBACK, (request) =>
      Effect.map(handle(complete)(request), (response) => setBrowserCookie(response, request, ""))
    )
  })
)
