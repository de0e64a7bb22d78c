/** The contract's authentication middlewares: API key, system access token, and the page's session. */
import { AccessTokenAuth, ApiKeyAuth, Failure, Principal } from "@sluice/core/contract"
import { WorkerUser } from "@sluice/core/workers"
import { Context, Effect, Layer, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Access, CurrentUser, ReadsDocuments } from "../contract/Access.ts"
import { checkRequestParts } from "../http/BodyParts.ts"
import { CurrentRequest } from "../http/RequestRecord.ts"
import { isSameOrigin } from "../network/Origin.ts"
import {
  bearerToken,
  callerAddress,
  crossOrigin,
  type Identity,
  makeAuthenticator,
  requireDocuments
} from "./Authenticator.ts"
import { type CallerInfo, CurrentCaller } from "./Caller.ts"
import { sessionTokenOf } from "./SessionCookie.ts"

/** The caller of the current request, recorded for its log line. */
const callerOf = ({ key, user }: Identity, credential: Exclude<CallerInfo["credential"], "none">) =>
  Effect.contextWith((context: Context.Context<HttpServerRequest.HttpServerRequest>) => {
    const principal = { user: user.id, ...(key !== undefined && { key: String(key.id) }) }
    const record = Context.get(context, CurrentRequest)
    record.now = { ...record.now, ...principal }
    const caller: CallerInfo = {
      ...principal,
      credential,
      address: callerAddress(Context.get(context, HttpServerRequest.HttpServerRequest)),
      ...(key !== undefined && { documents: key.documents }),
      models: key?.models ?? undefined,
      ...(key !== undefined && { limits: key })
    }
    return Effect.succeed({ caller, principal })
  })

/** Provides the caller to the handler. */
const withCaller = <A, E, R>(
  handler: Effect.Effect<A, E, R>,
  identity: Identity,
  credential: Exclude<CallerInfo["credential"], "none">
) =>
  Effect.flatMap(callerOf(identity, credential), ({ caller, principal }) => {
    const { id, role, username } = identity.user
    const by = credential === "session" ? credential : "key"
    return handler.pipe(
      Effect.provideService(Principal, principal),
      Effect.provideService(CurrentUser, { user: id, username, role, by }),
      Effect.provideService(CurrentCaller, caller),
      Effect.provideService(WorkerUser, id)
    )
  })

/** Authenticates requests to `/v1` that `HttpApiBuilder` does not serve: by an API key, or by the page's session. */
export const makeApiAuthentication = Effect.gen(function* () {
  const { byKey, sessionUser } = yield* makeAuthenticator
  return Effect.fnUntraced(function* (http: HttpServerRequest.HttpServerRequest) {
    const bySession = yield* sessionUser
    const identity = bySession ?? (yield* byKey(bearerToken(http)))
    return (yield* callerOf(identity, bySession === undefined ? "key" : "session")).caller
  })
})

/** Runs a handler outside of `HttpApiBuilder` for a caller whose API key may use the documents. */
export const makeDocumentsAccess = Effect.map(
  makeAuthenticator,
  ({ byKey }) =>
    <A, E, R>(http: HttpServerRequest.HttpServerRequest, handler: Effect.Effect<A, E, R>) =>
      byKey(bearerToken(http)).pipe(
        Effect.flatMap(requireDocuments("read")),
        Effect.flatMap((identity) => withCaller(handler, identity, "key"))
      )
)

/** `/v1`: an API key, or the page's session. */
const ApiKeyAuthLayer = Layer.effect(
  ApiKeyAuth,
  Effect.gen(function* () {
    const { byKey, sessionUser } = yield* makeAuthenticator
    return {
      apiKey: (handler, { credential }) =>
        Effect.gen(function* () {
          const bySession = yield* sessionUser
          const identity = bySession ?? (yield* byKey(Redacted.value(credential)))
          const checked = Effect.andThen(
            Effect.flatMap(HttpServerRequest.HttpServerRequest, checkRequestParts),
            handler
          )
          return yield* withCaller(checked, identity, bySession === undefined ? "key" : "session")
        })
    }
  })
)

/** Otherwise a key could create keys with more rights than its own. */
const accessTokenNeeded = new Failure({
  status: 403,
  message: "API keys can't manage accounts. Sign in with the system access token",
  code: "access_token_needed"
})

/** `/api`: a system access token, or the page's session. */
const AccessTokenAuthLayer = Layer.effect(
  AccessTokenAuth,
  Effect.gen(function* () {
    const { byToken, sessionUser } = yield* makeAuthenticator
    return {
      systemAccessToken: (handler, { credential }) =>
        Effect.gen(function* () {
          const bySession = yield* sessionUser
          if (bySession?.key !== undefined) return yield* accessTokenNeeded
          const identity = bySession ?? (yield* byToken(Redacted.value(credential)))
          return yield* withCaller(handler, identity, bySession === undefined ? "token" : "session")
        })
    }
  })
)

const notSignedIn = new Failure({
  status: 401,
  message:
    "Not signed in. Open the address that the server printed, or send an API key as `Authorization: Bearer …`",
  code: "invalid_api_key"
})

interface AccessOptions {
  readonly endpoint: HttpApiEndpoint.Top
  readonly group: HttpApiGroup.Top
}

/** The group of endpoints that keys without access to the documents may use too. */
const SESSION_GROUP = "session"

/** The documents: an API key, or the page's session. */
const AccessLayer = Layer.effect(
  Access,
  Effect.gen(function* () {
    const { byKey, bySession } = yield* makeAuthenticator
    const authorize = (identity: Identity, { endpoint, group }: AccessOptions) =>
      group.identifier === SESSION_GROUP
        ? Effect.succeed(identity)
        : requireDocuments(
            endpoint.method === "GET" || Context.get(endpoint.annotations, ReadsDocuments) ? "read" : "write"
          )(identity)
    return {
      bearer: (handler, options) =>
        Effect.gen(function* () {
          const identity = yield* authorize(yield* byKey(Redacted.value(options.credential)), options)
          return yield* withCaller(handler, identity, "key")
        }),
      session: (handler, options) =>
        Effect.gen(function* () {
          const request = yield* HttpServerRequest.HttpServerRequest
          // The declared cookie has no port.
          const identity = yield* bySession(sessionTokenOf(request) ?? "")
          if (identity === undefined) {
            // The middleware tries the bearer token first: its error explains more.
            const bearer = bearerToken(request)
            if (bearer !== "") yield* authorize(yield* byKey(bearer), options)
            return yield* notSignedIn
          }
          if (!isSameOrigin(request)) return yield* crossOrigin(request)
          return yield* withCaller(handler, yield* authorize(identity, options), "session")
        })
    }
  })
)

export const AuthLayer = Layer.mergeAll(ApiKeyAuthLayer, AccessTokenAuthLayer, AccessLayer)
