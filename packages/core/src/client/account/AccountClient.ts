/** `Account` over HTTP. */
import { Effect, Layer, Option, Redacted, type Schema, Stream } from "effect"
import { HttpClient } from "effect/http"
import { UserResponse } from "../../contract/Account.ts"
import { SystemAccessToken } from "../../contract/Credentials.ts"
import { definedFields } from "../../DefinedFields.ts"
import { GatewayApi } from "../../contract/GatewayApi.ts"
import type { GatewayError } from "../../contract/GatewayError.ts"
import { AccountModels } from "../../contract/Models.ts"
import { Account, type RotatedAccessToken, type Tokens } from "../../gateway/Account.ts"
import { tolerateModels, tolerateRecordResponse } from "../../tolerance/Account.ts"
import { publicMethods, withCheckedOptions } from "../call/Arguments.ts"
import { type Caller, makeCaller } from "../call/Caller.ts"
import { currentMiddleware } from "../call/CallInfo.ts"
import { baseUrlOf, type ClientOptions, gatewayUrl, required } from "../call/ClientOptions.ts"
import { fieldsOf } from "../transport/CallResult.ts"
import { decodeJson } from "../transport/DecodeJson.ts"
import { withTraceparent } from "../transport/Outgoing.ts"
import { makeSend, type Send } from "../transport/Send.ts"
import { layerTransport } from "../transport/Transport.ts"
import { sendForBody, sendForData } from "./Envelope.ts"
import { makeTokenCalls, TOKENS_PER_PAGE } from "./TokenCalls.ts"
import { createToken } from "./TokenCreation.ts"
import { listTokens } from "./TokenList.ts"
import { decodeAccessToken, tokenOf } from "./TokenRecords.ts"
import { updateToken } from "./TokenUpdate.ts"

export interface AccountClientOptions extends ClientOptions {
  readonly accessToken: SystemAccessToken
}

const decodeModels = decodeJson(AccountModels, tolerateModels)
const decodeUser = decodeJson(UserResponse, tolerateRecordResponse)

const make = Effect.fnUntraced(function* (options: AccountClientOptions) {
  const baseUrl = yield* baseUrlOf(options.baseUrl)
  const raw = withTraceparent(yield* HttpClient.HttpClient, baseUrl, options.traceparent)
  const { headers } = options
  const send = makeSend(raw, { baseUrl, credential: options.accessToken, headers, isBuffered: true })
  const { account, models } = GatewayApi.groups
  const caller = makeCaller(options, options.accessToken, yield* currentMiddleware)
  const { call } = caller

  const service = Account.of({
    user: call({ operation: "user" }, sendForData(send(account.endpoints.user)({}), decodeUser)).pipe(
      Effect.map(({ access_token, extra, quota, username }) => {
        const accessToken = Option.getOrUndefined(
          decodeAccessToken(access_token && Redacted.value(access_token))
        )
        return definedFields({ username, quota, accessToken, extra })
      })
    ),
    rotateAccessToken: call(
      { operation: "rotate access token", repeat: "never" },
      sendForBody(send(account.endpoints.rotateAccessToken)({}))
    ).pipe(Effect.map(rotatedToken)),
    tokens: publicMethods("Account.", makeTokens(send, caller), "tokens."),
    models: call({ operation: "models" }, sendForData(send(models.endpoints.all)({}), decodeModels)),
    availableModels: call(
      { operation: "available models" },
      sendForData(send(models.endpoints.available)({}), decodeModels)
    )
  })
  return publicMethods("Account.", service)
})

const makeTokens = (send: Send, caller: Caller): Tokens => {
  const calls = makeTokenCalls(send, caller)
  const update: Tokens["update"] = (id, changes) => Effect.map(updateToken(calls, id, changes), tokenOf)
  return {
    list: Stream.map(listTokens(calls.page, TOKENS_PER_PAGE), tokenOf),
    get: (id) => Effect.map(calls.read(id), tokenOf),
    create: (token) => createToken(calls, token),
    update,
    rename: (id, name) => update(id, { name }),
    enable: (id) => update(id, { enabled: true }),
    disable: (id) => update(id, { enabled: false }),
    remove: calls.remove,
    search: (keyword) => Effect.map(calls.search(keyword), (found) => found.map(tokenOf))
  }
}

/** The fields in which gateways return the new token, in `data` or at the top. */
const NAMES = ["access_token", "accessToken", "token", "key"]

const rotatedToken = (body: Redacted.Redacted<Schema.Json>): RotatedAccessToken => {
  const json = Redacted.value(body)
  const data = fieldsOf(json)["data"] ?? json
  const candidates = [data, ...NAMES.map((name) => fieldsOf(data)[name])]
  const [accessToken] = candidates.flatMap((candidate) => Option.toArray(decodeAccessToken(candidate)))
  return definedFields({ accessToken, body })
}

/** `Account` over the `HttpClient` that the program provides. */
export const layerAccountWithoutTransport = (
  options: AccountClientOptions
): Layer.Layer<Account, GatewayError, HttpClient.HttpClient> =>
  Layer.effect(Account, withCheckedOptions(options.accessToken, "systemAccessToken", make(options)))

/** `Account` over HTTP, with its own connection pool. */
export const layer = (options: AccountClientOptions): Layer.Layer<Account, GatewayError> =>
  Layer.provide(layerAccountWithoutTransport(options), layerTransport(options))

/** `Account` over HTTP, configured by `SLUICE_GATEWAY_URL` and `SLUICE_ACCESS_TOKEN`. Fails if either is missing. */
export const layerConfig = (options: Omit<AccountClientOptions, "baseUrl" | "accessToken"> = {}) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const baseUrl = yield* gatewayUrl
      const what = "the system access token for its /api, which is not an API key"
      const accessToken = yield* required(SystemAccessToken, "SLUICE_ACCESS_TOKEN", what)
      return layer({ ...options, baseUrl, accessToken })
    })
  )
