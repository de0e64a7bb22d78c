/** `Account` over HTTP. */
import { Effect, Layer, Option, Predicate, Redacted, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { Account, type RotatedAccessToken } from "../../gateway/Account.ts"
import { SystemAccessToken } from "../../contract/Credentials.ts"
import type { Extra } from "../../contract/Fields.ts"
import { GatewayApi } from "../../contract/GatewayApi.ts"
import type { GatewayError } from "../../contract/GatewayError.ts"
import { AccessTokenAuth } from "../../contract/Credentials.ts"
import { type About, makeCaller } from "../call/Call.ts"
import { baseUrlOf, type ClientOptions, gatewayUrl, required } from "../call/ClientOptions.ts"
import { type CallResult, exchange, type Problem } from "../transport/Exchange.ts"
import { unwrapAnyBody, unwrapEnvelope } from "./Envelope.ts"
import { Guards } from "../call/Guard.ts"
import { outgoing } from "../transport/Outgoing.ts"
import { makeTokens, textOf } from "./Tokens.ts"
import { layerTransport } from "../transport/Transport.ts"

export interface AccountClientOptions extends ClientOptions {
  readonly accessToken: SystemAccessToken
}

const ALL = { group: "models", endpoint: "all" } as const
const AVAILABLE = { group: "models", endpoint: "available" } as const
const USER = { group: "account", endpoint: "user" } as const
const ROTATE = { group: "account", endpoint: "rotateAccessToken" } as const

const decodeAll = HttpApiClient.decodeResponse(GatewayApi, ALL)
const decodeAvailable = HttpApiClient.decodeResponse(GatewayApi, AVAILABLE)
const decodeUser = HttpApiClient.decodeResponse(GatewayApi, USER)

const responseMode = "response-only"

const make = Effect.fnUntraced(function* (options: AccountClientOptions) {
  const baseUrl = yield* baseUrlOf(options.baseUrl)
  const client = yield* HttpClient.HttpClient
  const httpClient = outgoing(client, baseUrl, "whole")
  const getAll = yield* HttpApiClient.endpoint(GatewayApi, { ...ALL, httpClient })
  const getAvailable = yield* HttpApiClient.endpoint(GatewayApi, { ...AVAILABLE, httpClient })
  const getUser = yield* HttpApiClient.endpoint(GatewayApi, { ...USER, httpClient })
  const getToken = yield* HttpApiClient.endpoint(GatewayApi, { ...ROTATE, httpClient })
  const caller = makeCaller(options, options.accessToken, yield* Guards)

  const spanned = <A>(name: string, about: About, attempt: Effect.Effect<CallResult<A>, Problem>) =>
    Effect.map(caller.call(about, attempt), ({ value }) => value).pipe(Effect.withSpan(`Account.${name}`))

  return Account.of({
    user: Effect.map(
      spanned("user", { operation: "user" }, unwrapEnvelope(exchange(getUser({ responseMode }), decodeUser))),
      ({ access_token, extra, quota, username }) => {
        const accessToken = Option.getOrUndefined(tokenIn(access_token && Redacted.value(access_token)))
        return {
          username,
          quota,
          ...(accessToken !== undefined && { accessToken }),
          ...(extra !== undefined && { extra })
        }
      }
    ),
    // Redacted before the span ends: a span keeps what it ended with.
    rotateAccessToken: caller
      .call(
        { operation: "rotate access token", repeat: "never" },
        unwrapAnyBody(exchange(getToken({ responseMode }), textOf))
      )
      .pipe(
        Effect.map(({ value }) => rotated(value)),
        Effect.withSpan("Account.rotateAccessToken")
      ),
    tokens: yield* makeTokens(httpClient, caller),
    models: spanned(
      "models",
      { operation: "models" },
      unwrapEnvelope(exchange(getAll({ responseMode }), decodeAll))
    ),
    availableModels: spanned(
      "availableModels",
      { operation: "available models" },
      unwrapEnvelope(exchange(getAvailable({ responseMode }), decodeAvailable))
    )
  })
})

const tokenIn = Schema.decodeUnknownOption(SystemAccessToken)

/** Where gateways put the new token: in `data` or at the top, by itself or under one of these names. */
const NAMES = ["access_token", "accessToken", "token", "key"]

const rotated = (answer: Redacted.Redacted<Schema.Json>): RotatedAccessToken => {
  const body = Redacted.value(answer)
  const fieldsOf = (value: Schema.Json | undefined): Partial<Extra> =>
    Predicate.isObject(value) ? (value as Extra) : {}
  const data = fieldsOf(body)["data"] ?? body
  const places = [data, ...NAMES.map((name) => fieldsOf(data)[name])]
  const [found] = places.flatMap((place) => Option.toArray(tokenIn(place)))
  return {
    ...(found !== undefined && { accessToken: found }),
    body: answer
  }
}

/** `Account` over the `HttpClient` that the program provides. */
export const layerWithoutTransport = (
  options: AccountClientOptions
): Layer.Layer<Account, GatewayError, HttpClient.HttpClient> =>
  Layer.effect(Account, make(options)).pipe(
    Layer.provide(
      HttpApiMiddleware.layerClient(AccessTokenAuth, ({ next, request }) =>
        next(HttpClientRequest.bearerToken(request, options.accessToken))
      )
    )
  )

/** `Account` over HTTP, with a pool of its own. */
export const layer = (options: AccountClientOptions): Layer.Layer<Account, GatewayError> =>
  Layer.provide(layerWithoutTransport(options), layerTransport(options))

/** `Account` over HTTP, at `SLUICE_GATEWAY_URL` with `SLUICE_ACCESS_TOKEN`. Without either it refuses and says which. */
export const layerConfig = (options: Omit<AccountClientOptions, "baseUrl" | "accessToken"> = {}) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const baseUrl = yield* gatewayUrl
      const what = "the system access token for its /api, which is not an API key"
      const accessToken = yield* required(SystemAccessToken, "SLUICE_ACCESS_TOKEN", what)
      return layer({ ...options, baseUrl, accessToken })
    })
  )
