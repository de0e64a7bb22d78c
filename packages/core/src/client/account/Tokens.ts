/** The keys of an account, over HTTP. */
import { Effect, Equal, Redacted, Stream } from "effect"
import type { HttpClient, HttpClientResponse } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import type { CreatedToken, NewToken, Token, TokenChanges, Tokens } from "../../gateway/Account.ts"
import type { ApiKey } from "../../contract/Credentials.ts"
import {
  NEVER_EXPIRES,
  type TokenCreateRequest,
  type TokenRecord,
  type TokenUpdateRequest
} from "../../contract/Account.ts"
import { GatewayApi } from "../../contract/GatewayApi.ts"
import { type GatewayError, InvalidResponse } from "../../contract/GatewayError.ts"
import { RETRY_NEVER, withRetryPolicy } from "../../gateway/RetryPolicy.ts"
import type { About, Caller } from "../call/Call.ts"
import { type CallResult, exchange, judge, type Problem } from "../transport/Exchange.ts"
import { orGone } from "../call/Gone.ts"
import { unwrapAnyBody, unwrapEnvelope } from "./Envelope.ts"
import { asAsked, keyIn, madeIn, mayHave } from "./TokenCreation.ts"
import { decodeTokens, type Listed, telling, tokensIn } from "./TokenList.ts"
import { nextPage, PAGE, type TokenPage } from "./TokenPages.ts"
import { faultsOf, STATUS, updateOf } from "./TokenUpdate.ts"

const LIST = { group: "account", endpoint: "tokens" } as const
const GET = { group: "account", endpoint: "token" } as const
const CREATE = { group: "account", endpoint: "createToken" } as const
const UPDATE = { group: "account", endpoint: "updateToken" } as const
const REMOVE = { group: "account", endpoint: "removeToken" } as const
const SEARCH = { group: "account", endpoint: "searchTokens" } as const

const decodeGet = HttpApiClient.decodeResponse(GatewayApi, GET)

/** An answer that is not held to a form. */
export const textOf = ({ text }: HttpClientResponse.HttpClientResponse) => text

const responseMode = "response-only"

const tokenOf = ({
  expired_time,
  id,
  key,
  name,
  remain_quota,
  status,
  subnet,
  extra
}: TokenRecord): Token => {
  const shown = key === undefined ? "" : Redacted.value(key)
  const whole = keyIn(shown)
  return {
    id,
    name,
    status,
    enabled: status === 1,
    expires: expired_time,
    remainQuota: remain_quota,
    ...(subnet !== undefined && { subnet }),
    ...(whole !== undefined && { key: whole }),
    ...(shown.includes("*") && { maskedKey: shown }),
    ...(extra !== undefined && { extra })
  }
}

const ADVICE = "Read its key on the gateway's pages, or remove it; do not create it again."

const which = (id: number | undefined) => (id === undefined ? "" : ` (id ${id})`)

export const makeTokens = Effect.fnUntraced(function* (
  httpClient: HttpClient.HttpClient,
  { call, fail }: Caller
) {
  const getList = yield* HttpApiClient.endpoint(GatewayApi, { ...LIST, httpClient })
  const getOne = yield* HttpApiClient.endpoint(GatewayApi, { ...GET, httpClient })
  const post = yield* HttpApiClient.endpoint(GatewayApi, { ...CREATE, httpClient })
  const put = yield* HttpApiClient.endpoint(GatewayApi, { ...UPDATE, httpClient })
  const del = yield* HttpApiClient.endpoint(GatewayApi, { ...REMOVE, httpClient })
  const getFound = yield* HttpApiClient.endpoint(GatewayApi, { ...SEARCH, httpClient })

  const ask = <A>(
    about: About,
    attempt: Effect.Effect<CallResult<A>, Problem>
  ): Effect.Effect<A, GatewayError> => Effect.map(call(about, attempt), ({ value }) => value)

  const invalid = (operation: string, message: string) =>
    fail({ operation }, { reason: new InvalidResponse({ message }), requestId: undefined })

  const read = (id: number, operation = "token") =>
    ask({ operation }, unwrapEnvelope(exchange(getOne({ params: { id }, responseMode }), decodeGet)))

  const several = (
    operation: string,
    send: Parameters<typeof exchange<unknown>>[0]
  ): Effect.Effect<Listed, GatewayError> => {
    const attempt = judge(tokensIn)(unwrapEnvelope(exchange(send, decodeTokens)))
    return Effect.flatMap(ask({ operation }, attempt), (listed) => telling(operation, listed))
  }

  const page = (p: number | undefined) => {
    const query = { num: PAGE, size: PAGE, ...(p !== undefined && { p }) }
    return several("tokens", getList({ query, responseMode }))
  }

  const list = Stream.paginate<TokenPage, Token, GatewayError>(undefined, (last) =>
    Effect.map(page(last?.next), (list) => {
      const { fresh, page } = nextPage(last, list)
      return [fresh.map(tokenOf), page]
    })
  ).pipe(Stream.withSpan("Account.tokens.list"))

  const search = (keyword: string, operation = "search tokens") =>
    Effect.map(several(operation, getFound({ query: { keyword }, responseMode })), ({ items }) => items)

  /** Some gateways do not say which one they made: the newest token that is as it was asked for is it. */
  const newest = Effect.fnUntraced(function* (asked: TokenCreateRequest, key: ApiKey | undefined) {
    const alike = (yield* search(asked.name, "create token")).filter(
      (token) =>
        token.name === asked.name &&
        token.remain_quota === asked.remain_quota &&
        Equal.equals(token.expired_time, asked.expired_time) &&
        (key === undefined || mayHave(token, key))
    )
    const id = Math.max(...alike.map((token) => token.id))
    const found = alike.find((token) => token.id === id)
    return found === undefined || key !== undefined ? found : yield* read(id, "create token")
  })

  const create = Effect.fn("Account.tokens.create")(function* (token: NewToken) {
    const about = { operation: "create token", repeat: "creations" } as const
    const payload: TokenCreateRequest = {
      name: token.name,
      expired_time: token.expires ?? NEVER_EXPIRES,
      remain_quota: token.remainQuota,
      subnet: token.subnet ?? "",
      ...(token.extra !== undefined && { extra: token.extra })
    }
    const answer = yield* ask(about, unwrapAnyBody(exchange(post({ payload, responseMode }), textOf)))
    const made = madeIn(Redacted.value(answer))
    const { id, key } = made
    const readBack = id === undefined ? newest(payload, key) : read(id, about.operation)
    if (key !== undefined) {
      // The key is not shown again: nothing that fails from here on may lose it, or keep it waiting.
      const once = Effect.orElseSucceed(withRetryPolicy(RETRY_NEVER)(readBack), () => undefined)
      const record = made.record ?? (yield* once)
      const created: CreatedToken = record ? { ...tokenOf(record), key } : asAsked(token, { id, key })
      return created
    }
    const unread = ({ reason, requestId }: GatewayError) => {
      const why = reason.message.replace(/[.!?…]*$/, "")
      const message = `The gateway created the token${which(id)}, and reading it back failed: ${why}. ${ADVICE}`
      return fail({ operation: about.operation }, { reason: new InvalidResponse({ message }), requestId })
    }
    const record = (yield* Effect.mapError(readBack, unread)) ?? made.record
    const created = record && tokenOf(record)
    if (created?.key !== undefined) return { ...created, key: created.key }
    const message = `The gateway says that it created the token${which(created?.id)}, and does not show its key. ${ADVICE}`
    return yield* invalid(about.operation, message)
  })

  const write = (payload: TokenUpdateRequest, query: { readonly status_only?: string }) =>
    ask({ operation: "update token" }, unwrapAnyBody(exchange(put({ query, payload, responseMode }), textOf)))

  const update = Effect.fn("Account.tokens.update")(function* (id: number, changes: TokenChanges) {
    const before = yield* read(id, "update token")
    if (faultsOf(before, before, changes).length === 0) return tokenOf(before)
    const { extra, ...named } = updateOf(before, changes)
    const whole = { ...named, ...(Object.keys(extra ?? {}).length > 0 && { extra }) }
    yield* write(whole, {}).pipe(
      // Some gateways refuse fields that they show, and do not take: with those of the interface alone it may pass.
      Effect.catchIf(
        ({ reason }) => reason._tag === "InvalidRequest" && "extra" in whole && changes.extra === undefined,
        () => write(named, {})
      )
    )
    let after = yield* read(id, "update token")
    if (faultsOf(before, after, changes).includes(STATUS)) {
      yield* write(whole, { status_only: "true" })
      after = yield* read(id, "update token")
    }
    const faults = faultsOf(before, after, changes)
    if (faults.length === 0) return tokenOf(after)
    const message = `The gateway took the change of token ${id}, and then it is not as it should be: ${faults.join(", ")}. Look at it before its key is used.`
    return yield* invalid("update token", message)
  })

  const remove = (id: number) =>
    ask(
      { operation: "remove token" },
      unwrapAnyBody(exchange(del({ params: { id }, responseMode }), textOf))
    ).pipe(orGone, Effect.withSpan("Account.tokens.remove"))

  const tokens: Tokens = {
    list,
    get: (id) => Effect.withSpan(Effect.map(read(id), tokenOf), "Account.tokens.get"),
    create,
    update,
    rename: (id, name) => update(id, { name }),
    enable: (id) => update(id, { enabled: true }),
    disable: (id) => update(id, { enabled: false }),
    remove,
    search: (keyword) =>
      Effect.map(search(keyword), (found) => found.map(tokenOf)).pipe(
        Effect.withSpan("Account.tokens.search")
      )
  }
  return tokens
})
