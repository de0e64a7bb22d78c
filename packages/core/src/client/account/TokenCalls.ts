/** The token endpoints, each as one call that returns records. */
import { Effect } from "effect"
import { type TokenCreateRequest, TokenResponse, type TokenUpdateRequest } from "../../contract/Account.ts"
import { GatewayApi } from "../../contract/GatewayApi.ts"
import { InvalidResponse } from "../../contract/GatewayError.ts"
import { tolerateRecordResponse } from "../../tolerance/Account.ts"
import { type Caller, ignoreRepeatedNotFound } from "../call/Caller.ts"
import { decodeJson } from "../transport/DecodeJson.ts"
import type { Send } from "../transport/Send.ts"
import { mapResult } from "../transport/SendAndDecode.ts"
import { sendForBody, sendForData } from "./Envelope.ts"
import { decodeTokens, logSkipped, parseTokens } from "./TokenList.ts"

/** The largest page that every known gateway of this family allows. */
export const TOKENS_PER_PAGE = 100

const decodeToken = decodeJson(TokenResponse, tolerateRecordResponse)

/** Each call returns records or a body. `operation` names it in errors: reading a token may be part of creating it. */
export type TokenCalls = ReturnType<typeof makeTokenCalls>

export const makeTokenCalls = (send: Send, { call, fail }: Caller) => {
  const { endpoints } = GatewayApi.groups.account

  const list = (operation: string, response: Parameters<typeof sendForBody>[0]) =>
    call({ operation }, mapResult(parseTokens)(sendForData(response, decodeTokens))).pipe(
      Effect.tap((page) => logSkipped(operation, page))
    )

  return {
    read: (id: number, operation = "token") =>
      call({ operation }, sendForData(send(endpoints.token)({ params: { id } }), decodeToken)),
    /** A page by its number; the first one for undefined. */
    page: (p: number | undefined) => {
      const query = { num: TOKENS_PER_PAGE, ...(p !== undefined && { p }), size: TOKENS_PER_PAGE }
      return list("tokens", send(endpoints.tokens)({ query }))
    },
    search: (keyword: string, operation = "search tokens") =>
      Effect.map(list(operation, send(endpoints.searchTokens)({ query: { keyword } })), ({ items }) => items),
    /** The body of the response, which may contain the key. */
    create: (payload: TokenCreateRequest) =>
      call(
        { operation: "create token", repeat: "creations" },
        sendForBody(send(endpoints.createToken)({ payload }))
      ),
    update: (payload: TokenUpdateRequest, query: { readonly status_only?: string } = {}) =>
      call({ operation: "update token" }, sendForBody(send(endpoints.updateToken)({ query, payload }))),
    remove: (id: number) =>
      ignoreRepeatedNotFound(
        call({ operation: "remove token" }, sendForBody(send(endpoints.removeToken)({ params: { id } })))
      ),
    /** The error of a well-formed but wrong response. */
    invalid: (operation: string, message: string, requestId?: string) =>
      fail({ operation }, { reason: new InvalidResponse({ message }), requestId })
  }
}
