/** `Account` over HTTP. */
import { Effect, Layer } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { Account } from "../Account.ts"
import { SystemAccessToken } from "../Credentials.ts"
import { GatewayApi } from "../GatewayApi.ts"
import { Forbidden, type GatewayError } from "../GatewayError.ts"
import { AccessTokenAuth } from "../Security.ts"
import { makeCaller } from "./Call.ts"
import { baseUrlOf, type ClientOptions, gatewayUrl, required } from "./ClientOptions.ts"
import { exchange, judge } from "./Exchange.ts"
import { Guards } from "./Guard.ts"
import { outgoing } from "./Idempotency.ts"
import { layerTransport } from "./Transport.ts"

export interface AccountClientOptions extends ClientOptions {
  readonly accessToken: SystemAccessToken
}

const ALL = { group: "models", endpoint: "all" } as const
const AVAILABLE = { group: "models", endpoint: "available" } as const

const decodeAll = HttpApiClient.decodeResponse(GatewayApi, ALL)
const decodeAvailable = HttpApiClient.decodeResponse(GatewayApi, AVAILABLE)

const responseMode = "response-only"

const make = Effect.fnUntraced(function* (options: AccountClientOptions) {
  const baseUrl = yield* baseUrlOf(options.baseUrl)
  const client = yield* HttpClient.HttpClient
  const httpClient = outgoing(client, baseUrl)
  const getAll = yield* HttpApiClient.endpoint(GatewayApi, { ...ALL, httpClient })
  const getAvailable = yield* HttpApiClient.endpoint(GatewayApi, { ...AVAILABLE, httpClient })
  const { call } = makeCaller(options, options.accessToken, yield* Guards)

  /** Gateways of this family also refuse with status 200. */
  const granted = judge((answer: Effect.Success<ReturnType<typeof decodeAll>>) =>
    "data" in answer
      ? Effect.succeed(answer.data)
      : Effect.fail(new Forbidden({ message: answer.message ?? "The gateway refused and did not say why." }))
  )

  const models = call({ operation: "models" }, granted(exchange(getAll({ responseMode }), decodeAll)))
  const available = call(
    { operation: "available models" },
    granted(exchange(getAvailable({ responseMode }), decodeAvailable))
  )
  return Account.of({
    models: Effect.withSpan(
      Effect.map(models, ({ value }) => value),
      "Account.models"
    ),
    availableModels: Effect.withSpan(
      Effect.map(available, ({ value }) => value),
      "Account.availableModels"
    )
  })
})

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
