/** The contract's three ways of authentication: API key, system access token, and the page's session. */
import { AccessTokenAuth, ApiKeyAuth, Failure, Principal } from "@sluice/core"
import { Effect, Layer, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { Access, Visitor } from "../contract/Access.ts"
import { Accounts } from "./Accounts.ts"
import { isSameOrigin } from "./SameOrigin.ts"

const unauthorized = (message: string) =>
  Effect.fail(new Failure({ status: 401, message, code: "invalid_api_key", retryable: false }))

/** What is wrong with a bearer value, told without repeating any of it. */
const explain = (value: string, wanted: "key" | "token", isOther: boolean): string => {
  const name = wanted === "key" ? "API key" : "system access token"
  if (value === "") return `No credential: send the ${name} as \`Authorization: Bearer …\``
  if (isOther) {
    return wanted === "key"
      ? "This is the system access token, which opens /api: use the API key here"
      : "This is the API key, which opens /v1: use the system access token here"
  }
  return `This ${name} is not known: it was printed when the server first started on its data folder`
}

/** `/v1` by API key. */
export const ApiKeyAuthLayer = Layer.effect(
  ApiKeyAuth,
  Effect.map(Accounts, (accounts) => ({
    apiKey: (handler, { credential }) => {
      const value = Redacted.value(credential)
      return accounts.isApiKey(value)
        ? Effect.provideService(handler, Principal, { user: "owner", key: "default" })
        : unauthorized(explain(value, "key", accounts.isAccessToken(value)))
    }
  }))
)

/** `/api` by system access token. */
export const AccessTokenAuthLayer = Layer.effect(
  AccessTokenAuth,
  Effect.map(Accounts, (accounts) => ({
    systemAccessToken: (handler, { credential }) => {
      const value = Redacted.value(credential)
      return accounts.isAccessToken(value)
        ? Effect.provideService(handler, Principal, { user: "owner" })
        : unauthorized(explain(value, "token", accounts.isApiKey(value)))
    }
  }))
)

/** The documents by API key, or by the page's session. */
export const AccessLayer = Layer.effect(
  Access,
  Effect.map(Accounts, (accounts) => ({
    bearer: (handler, { credential }) => {
      const value = Redacted.value(credential)
      return accounts.isApiKey(value)
        ? Effect.provideService(handler, Visitor, { user: "owner", by: "key" })
        : unauthorized(explain(value, "key", accounts.isAccessToken(value)))
    },
    session: (handler, { credential }) =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        if (!(yield* accounts.isSession(Redacted.value(credential)))) {
          const bearer = /^bearer +(.*)$/i.exec(request.headers["authorization"] ?? "")?.[1] ?? ""
          return yield* unauthorized(
            bearer === ""
              ? "Not signed in: open the address that the server printed, or send the API key as `Authorization: Bearer …`"
              : explain(bearer, "key", accounts.isAccessToken(bearer))
          )
        }
        if (!isSameOrigin(request)) {
          return yield* new Failure({
            status: 403,
            message: "A session only works from the page itself: a program should send the API key",
            code: "cross_origin",
            retryable: false
          })
        }
        return yield* Effect.provideService(handler, Visitor, { user: "owner", by: "session" })
      })
  }))
)

/** All three. */
export const AuthLayer = Layer.mergeAll(ApiKeyAuthLayer, AccessTokenAuthLayer, AccessLayer)
