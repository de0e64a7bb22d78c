/** The token endpoints, each as one call that returns records. */
import { Effect, type Redacted, type Schema } from "effect"
import { type HttpClient, HttpClientResponse } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import {
  type TokenCreateRequest,
  type TokenRecord,
  TokenResponse,
  type TokenUpdateRequest
} from "../../contract/Account.ts"
import { GatewayApi } from "../../contract/GatewayApi.ts"
import { type GatewayError, InvalidResponse } from "../../contract/GatewayError.ts"
import { type Caller, ignoreRepeatedNotFound } from "../call/Caller.ts"
import { mapResult, responseText, sendAndDecode } from "../transport/SendAndDecode.ts"
import { unwrapAnyBody, unwrapEnvelope } from "./Envelope.ts"
import { decodeTokens, logSkipped, parseTokens, type TokenListPage } from "./TokenList.ts"

/** The largest page that every known gateway of this family allows. */
export const TOKENS_PER_PAGE = 100

const decodeToken = HttpClientResponse.schemaBodyJson(TokenResponse)

const responseMode = "response-only"

/** `operation` names the call in errors: reading a token may be part of creating it. */
export interface TokenCalls {
  readonly read: (id: number, operation?: string) => Effect.Effect<TokenRecord, GatewayError>
  /** A page by its number; the first one for undefined. */
  readonly page: (number: number | undefined) => Effect.Effect<TokenListPage, GatewayError>
  readonly search: (
    keyword: string,
    operation?: string
  ) => Effect.Effect<ReadonlyArray<TokenRecord>, GatewayError>
  /** The body of the response, which may contain the key. */
  readonly create: (
    payload: TokenCreateRequest
  ) => Effect.Effect<Redacted.Redacted<Schema.Json>, GatewayError>
  readonly update: (
    payload: TokenUpdateRequest,
    query?: { readonly status_only?: string }
  ) => Effect.Effect<unknown, GatewayError>
  readonly remove: (id: number) => Effect.Effect<void, GatewayError>
  /** The error of a well-formed but wrong response. */
  readonly invalid: (operation: string, message: string, requestId?: string) => GatewayError
}

export const makeTokenCalls = Effect.fnUntraced(function* (
  httpClient: HttpClient.HttpClient,
  { call, fail }: Caller
) {
  const send = yield* HttpApiClient.group(GatewayApi, { group: "account", httpClient })

  const list = (operation: string, response: Parameters<typeof sendAndDecode<unknown>>[0]) =>
    call({ operation }, mapResult(parseTokens)(unwrapEnvelope(sendAndDecode(response, decodeTokens)))).pipe(
      Effect.tap((page) => logSkipped(operation, page))
    )

  const calls: TokenCalls = {
    read: (id, operation = "token") =>
      call(
        { operation },
        unwrapEnvelope(sendAndDecode(send.token({ params: { id }, responseMode }), decodeToken))
      ),
    page: (p) => {
      const query = { num: TOKENS_PER_PAGE, size: TOKENS_PER_PAGE, ...(p !== undefined && { p }) }
      return list("tokens", send.tokens({ query, responseMode }))
    },
    search: (keyword, operation = "search tokens") =>
      Effect.map(
        list(operation, send.searchTokens({ query: { keyword }, responseMode })),
        ({ items }) => items
      ),
    create: (payload) =>
      call(
        { operation: "create token", repeat: "creations" },
        unwrapAnyBody(sendAndDecode(send.createToken({ payload, responseMode }), responseText))
      ),
    update: (payload, query = {}) =>
      call(
        { operation: "update token" },
        unwrapAnyBody(sendAndDecode(send.updateToken({ query, payload, responseMode }), responseText))
      ),
    remove: (id) =>
      ignoreRepeatedNotFound(
        call(
          { operation: "remove token" },
          unwrapAnyBody(sendAndDecode(send.removeToken({ params: { id }, responseMode }), responseText))
        )
      ),
    invalid: (operation, message, requestId) =>
      fail({ operation }, { reason: new InvalidResponse({ message }), requestId })
  }
  return calls
})
