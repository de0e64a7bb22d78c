/** The contract's three ways of authentication: API key, system access token, and the page's session. */
import { AccessTokenAuth, ApiKeyAuth, Failure, Principal } from "@sluice/core"
import { Effect, Layer, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { Access, Visitor } from "../contract/Access.ts"
import { Accounts } from "./Accounts.ts"
import { makeAdmission } from "./Admission.ts"
import { crossOrigin, makePageUser } from "./PageUser.ts"
import { isSameOrigin } from "./SameOrigin.ts"
import { orUnavailable } from "./StoreFailure.ts"

/** `/v1` by API key, or by the page's session. */
export const ApiKeyAuthLayer = Layer.effect(
  ApiKeyAuth,
  Effect.gen(function* () {
    const { byKey } = yield* makeAdmission
    const pageUser = yield* makePageUser
    return {
      apiKey: (handler, { credential }) =>
        Effect.gen(function* () {
          const user = yield* pageUser()
          if (user !== undefined) return yield* Effect.provideService(handler, Principal, { user })
          const key = yield* byKey(Redacted.value(credential))
          return yield* Effect.provideService(handler, Principal, {
            user: key.user_id,
            key: String(key.id)
          })
        })
    }
  })
)

/** A GET that ends the token with which it is called: a session has none. */
const ROTATION = "rotateAccessToken"

/** `/api` by system access token, or by the page's session. */
export const AccessTokenAuthLayer = Layer.effect(
  AccessTokenAuth,
  Effect.gen(function* () {
    const { byToken } = yield* makeAdmission
    const pageUser = yield* makePageUser
    return {
      systemAccessToken: (handler, { credential, endpoint }) =>
        Effect.gen(function* () {
          const fromPage = endpoint.name === ROTATION ? undefined : yield* pageUser()
          const user = fromPage ?? (yield* byToken(Redacted.value(credential))).id
          return yield* Effect.provideService(handler, Principal, { user })
        })
    }
  })
)

const notSignedIn = new Failure({
  status: 401,
  message:
    "Not signed in: open the address that the server printed, or send the API key as `Authorization: Bearer …`",
  code: "invalid_api_key",
  retryable: false
})

/** The documents by API key, or by the page's session. */
export const AccessLayer = Layer.effect(
  Access,
  Effect.gen(function* () {
    const accounts = yield* Accounts
    const { byOwnersKey } = yield* makeAdmission
    return {
      bearer: (handler, { credential }) =>
        Effect.andThen(
          byOwnersKey(Redacted.value(credential)),
          Effect.provideService(handler, Visitor, { user: "owner", by: "key" })
        ),
      session: (handler, { credential }) =>
        Effect.gen(function* () {
          const request = yield* HttpServerRequest.HttpServerRequest
          if (!(yield* orUnavailable(accounts.isSession(Redacted.value(credential))))) {
            // The key was refused before: what is said is why.
            const bearer = /^bearer +(.*)$/i.exec(request.headers["authorization"] ?? "")?.[1] ?? ""
            return yield* bearer === "" ? notSignedIn : Effect.andThen(byOwnersKey(bearer), notSignedIn)
          }
          if (!isSameOrigin(request)) return yield* crossOrigin
          return yield* Effect.provideService(handler, Visitor, { user: "owner", by: "session" })
        })
    }
  })
)

/** All three. */
export const AuthLayer = Layer.mergeAll(ApiKeyAuthLayer, AccessTokenAuthLayer, AccessLayer)
