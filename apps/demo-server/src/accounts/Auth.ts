/** The contract's three ways of authentication: API key, system access token, and the page's session. */
import { AccessTokenAuth, ApiKeyAuth, Failure, Principal } from "@sluice/core/contract"
import { Effect, Layer, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { Access, Visitor } from "../contract/Access.ts"
import { checkParts } from "../http/BodyParts.ts"
import { noteRequest } from "../http/RequestRecord.ts"
import { type Admitted, bearerOf, callerAddress, makeAdmission, mayReadDocuments } from "./Admission.ts"
import { Caller, type CallerInfo } from "./Caller.ts"
import { crossOrigin, makePageUser } from "./PageUser.ts"
import { isSameOrigin } from "../network/Origin.ts"

/** Tells the handler, and what it calls, who calls. */
const calling = <A, E, R>(
  handler: Effect.Effect<A, E, R>,
  { key, user }: Admitted,
  credential: CallerInfo["credential"],
  address: string
) =>
  Effect.andThen(
    noteRequest({ user: user.id, ...(key !== undefined && { key: String(key.id) }) }),
    handler
  ).pipe(
    Effect.provideService(Principal, { user: user.id, ...(key !== undefined && { key: String(key.id) }) }),
    Effect.provideService(Visitor, {
      user: user.id,
      username: user.username,
      role: user.role,
      by: credential === "session" ? credential : "key"
    }),
    Effect.provideService(Caller, {
      user: user.id,
      credential,
      address,
      models: key?.models ?? undefined,
      ...(key !== undefined && { key: String(key.id), limits: key })
    })
  )

/** `/v1` by API key, or by the page's session. */
const ApiKeyAuthLayer = Layer.effect(
  ApiKeyAuth,
  Effect.gen(function* () {
    const { byKey } = yield* makeAdmission
    const pageUser = yield* makePageUser
    return {
      apiKey: (handler, { credential }) =>
        Effect.gen(function* () {
          const fromPage = yield* pageUser()
          const admitted = fromPage ?? (yield* byKey(Redacted.value(credential)))
          return yield* calling(
            Effect.andThen(checkParts, handler),
            admitted,
            fromPage === undefined ? "key" : "session",
            yield* callerAddress
          )
        })
    }
  })
)

/** A key spends; it does not make keys that may spend more than it. */
const openedByKey = new Failure({
  status: 403,
  message:
    "You are signed in with an API key, which does not manage the account: sign in with the system access token",
  code: "access_token_needed",
  retryable: false
})

/** `/api` by system access token, or by the page's session. */
const AccessTokenAuthLayer = Layer.effect(
  AccessTokenAuth,
  Effect.gen(function* () {
    const { byToken } = yield* makeAdmission
    const pageUser = yield* makePageUser
    return {
      systemAccessToken: (handler, { credential }) =>
        Effect.gen(function* () {
          const fromPage = yield* pageUser()
          if (fromPage?.key !== undefined) return yield* openedByKey
          const admitted = fromPage ?? (yield* byToken(Redacted.value(credential)))
          return yield* calling(
            handler,
            admitted,
            fromPage === undefined ? "token" : "session",
            yield* callerAddress
          )
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

/** What is the session's own is open to every key. */
const OPEN = "session"

/** The documents by API key, or by the page's session. */
const AccessLayer = Layer.effect(
  Access,
  Effect.gen(function* () {
    const { byKey, bySession } = yield* makeAdmission
    const passing = (admitted: Admitted, group: string) =>
      group === OPEN ? Effect.succeed(admitted) : mayReadDocuments(admitted)
    return {
      bearer: (handler, { credential, group }) =>
        Effect.gen(function* () {
          const admitted = yield* passing(yield* byKey(Redacted.value(credential)), group.identifier)
          return yield* calling(handler, admitted, "key", yield* callerAddress)
        }),
      session: (handler, { credential, group }) =>
        Effect.gen(function* () {
          const request = yield* HttpServerRequest.HttpServerRequest
          const admitted = yield* bySession(Redacted.value(credential))
          if (admitted === undefined) {
            // The key was refused before: what is said is why.
            const bearer = bearerOf(request)
            if (bearer === "") return yield* notSignedIn
            yield* passing(yield* byKey(bearer), group.identifier)
            return yield* notSignedIn
          }
          if (!isSameOrigin(request)) return yield* crossOrigin(request)
          const passed = yield* passing(admitted, group.identifier)
          return yield* calling(handler, passed, "session", yield* callerAddress)
        })
    }
  })
)

/** All three. */
export const AuthLayer = Layer.mergeAll(ApiKeyAuthLayer, AccessTokenAuthLayer, AccessLayer)
