/** The user and the API keys: `/api/user/self`, `/api/user/token`, `/api/token/`. */
import { Failure, Principal, type TokenRecord, NEVER_EXPIRES } from "@sluice/core/contract"
import { quota } from "@sluice/core"
import { DateTime, Effect, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import {
  parseKeyChanges,
  EVERY_MODEL,
  parseNewKey,
  NO_LIMIT,
  parsePage,
  SEARCH_LIMIT,
  parseKeyword
} from "../accounts/AccountRequests.ts"
import { bearerToken } from "../accounts/Authenticator.ts"
import { ApiKeys, type KeyRow } from "../accounts/ApiKeys.ts"
import { Audit } from "../accounts/Audit.ts"
import { CurrentCaller } from "../accounts/Caller.ts"
import { catchSqlError } from "../sql/StoreFailure.ts"
import { Users } from "../accounts/Users.ts"
import { wrapData } from "../contract/Administration.ts"
import { ServedApi } from "../http/ServedApi.ts"
import { idempotencyOf } from "../billing/Idempotency.ts"
import { makeIdempotentCreation } from "../billing/IdempotentTokenCreation.ts"

/** A key in the interface's form: masked, unless it was just created. */
const record = (row: KeyRow, secret?: string): TokenRecord => ({
  id: row.id,
  name: row.name,
  key: Redacted.make(secret ?? row.shown, { label: "ApiKey" }),
  status: row.status,
  expired_time:
    row.expires_at === null ? NEVER_EXPIRES : { _tag: "At", at: DateTime.makeUnsafe(row.expires_at) },
  remain_quota: quota(row.remain_quota),
  subnet: row.subnet,
  extra: {
    created_time: Math.floor(row.created_at / 1000),
    models: row.models ?? [EVERY_MODEL],
    documents: row.documents,
    requests_per_minute: row.requests_per_minute ?? NO_LIMIT,
    tokens_per_minute: row.tokens_per_minute ?? NO_LIMIT
  }
})

/** The same for an unknown id and for another user's key. */
const unknownToken = new Failure({
  status: 404,
  message: "No token has this id. GET /api/token/ lists the tokens",
  code: "token_not_found",
  param: "id"
})

const found = (row: KeyRow | undefined) =>
  row === undefined ? Effect.fail(unknownToken) : Effect.succeed(row)

/** A prefetch or HEAD would revoke the token without showing the new one. */
const isPrefetch = ({ headers, method }: HttpServerRequest.HttpServerRequest): boolean =>
  method !== "GET" ||
  [headers["sec-purpose"], headers["purpose"], headers["x-moz"]].some((value) =>
    /prefetch/i.test(value ?? "")
  )

const prefetchRejected = new Failure({
  status: 403,
  message: "This call replaces the system access token, so HEAD and prefetches are rejected. Use a plain GET",
  code: "not_a_plain_get"
})

const alreadyReplaced = new Failure({
  status: 401,
  message: "Another call has replaced this system access token. Use the new one",
  code: "invalid_api_key"
})

/** For sessions, which have no token. */
const tokenRequired = new Failure({
  status: 401,
  message:
    "GET replaces the system access token of the request. Send it as `Authorization: Bearer …`, or use POST from the page",
  code: "invalid_api_key"
})

/** The id of the calling user. */
const caller = Effect.map(Principal, ({ user }) => user)

export const AccountLayer = HttpApiBuilder.group(
  ServedApi,
  "account",
  Effect.fn(function* (handlers) {
    const keys = yield* ApiKeys
    const users = yield* Users
    const audit = yield* Audit
    const createIdempotent = yield* makeIdempotentCreation
    return handlers.handleAll({
      user: Effect.fn("account.user")(function* () {
        const row = yield* catchSqlError(users.get(yield* caller))
        if (row === undefined) return yield* alreadyReplaced
        return wrapData({ username: row.username, quota: quota(row.quota) })
      }),
      rotateAccessToken: Effect.fn("account.rotateAccessToken")(function* () {
        const { user } = yield* Principal
        const request = yield* HttpServerRequest.HttpServerRequest
        if ((yield* CurrentCaller).credential === "session") return yield* tokenRequired
        if (isPrefetch(request)) return yield* prefetchRejected
        const next = yield* catchSqlError(
          audit.record(users.rotateToken(user, bearerToken(request)), (token) =>
            token === undefined ? undefined : { action: "access_token.create", subject: user }
          )
        )
        return next === undefined ? yield* alreadyReplaced : wrapData(next)
      }),
      tokens: Effect.fn("account.tokens")(function* ({ query }) {
        const rows = yield* catchSqlError(keys.list(yield* caller, yield* parsePage(query)))
        return wrapData(rows.map((row) => record(row)))
      }),
      searchTokens: Effect.fn("account.searchTokens")(function* ({ query }) {
        const keyword = yield* parseKeyword(query.keyword)
        const rows = yield* catchSqlError(keys.search(yield* caller, keyword, SEARCH_LIMIT))
        return wrapData(rows.map((row) => record(row)))
      }),
      createToken: Effect.fn("account.createToken")(function* ({ payload }) {
        const { user } = yield* Principal
        const fields = yield* parseNewKey(payload)
        const http = yield* HttpServerRequest.HttpServerRequest
        const body = yield* Effect.orDie(http.text)
        const { row, secret } = yield* createIdempotent(
          user,
          yield* idempotencyOf(http.headers["idempotency-key"], "token", body),
          audit.record(keys.create(user, fields), ({ row: { id } }) => ({
            action: "token.create",
            subject: String(id),
            details: fields
          }))
        )
        return wrapData(record(row, secret))
      }),
      updateToken: Effect.fn("account.updateToken")(function* ({ payload }) {
        const changes = yield* parseKeyChanges(payload)
        const row = yield* catchSqlError(
          audit.record(
            keys.update(yield* caller, payload.id, changes),
            (row) => row && { action: "token.update", subject: String(row.id), details: changes }
          )
        )
        yield* found(row)
        return wrapData(null)
      }),
      token: Effect.fn("account.token")(function* ({ params }) {
        return wrapData(record(yield* found(yield* catchSqlError(keys.get(yield* caller, params.id)))))
      }),
      removeToken: Effect.fn("account.removeToken")(function* ({ params }) {
        const removed = yield* catchSqlError(
          audit.record(keys.remove(yield* caller, params.id), (was) =>
            was ? { action: "token.remove", subject: String(params.id) } : undefined
          )
        )
        if (!removed) return yield* unknownToken
        return wrapData(null)
      })
    })
  })
)
