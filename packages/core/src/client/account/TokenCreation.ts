/** Creates tokens. The response contains the whole token, its id, its key, or nothing. */
import { Effect, Option, Redacted, Schema } from "effect"
import { NEVER_EXPIRES, type TokenCreateRequest, TokenRecord } from "../../contract/Account.ts"
import type { ApiKey } from "../../contract/Credentials.ts"
import type { GatewayError } from "../../contract/GatewayError.ts"
import type { CreatedToken, NewToken } from "../../gateway/Account.ts"
import { RETRY_NEVER, withRetryPolicy } from "../../gateway/RetryPolicy.ts"
import { tolerateRecord } from "../../tolerance/Account.ts"
import { fieldsOf } from "../transport/CallResult.ts"
import type { TokenCalls } from "./TokenCalls.ts"
import { couldHaveKey, fullKey, isSameExpiry, tokenOf } from "./TokenRecords.ts"

const decodeRecord = Schema.decodeUnknownOption(Schema.toCodecJson(TokenRecord))
const decodeId = Schema.decodeUnknownOption(Schema.Int)

/** A text in place of a token is taken as its key only if it looks like one: it may be a status message. */
const KEY = /^(sk-[\w-]+|[\w-]{32,})$/

/** Each part is decoded independently: the key is returned only once, so an invalid field must not lose it. */
const parseCreation = (body: Schema.Json) => {
  const data = tolerateRecord(fieldsOf(body)["data"] ?? body)
  if (typeof data === "string") {
    return { record: undefined, id: undefined, key: KEY.test(data) ? fullKey(data) : undefined }
  }
  const { id, key } = fieldsOf(data)
  return {
    record: Option.getOrUndefined(decodeRecord(data)),
    id: Option.getOrUndefined(decodeId(id)),
    key: fullKey(key)
  }
}

const OPERATION = "create token"

const ADVICE = "Read its key on the gateway's pages, or remove it; do not create it again."

const idText = (id: number | undefined) => (id === undefined ? "" : ` (id ${id})`)

/** The newest token with the requested values, for a gateway that does not return the id. */
const findCreated = Effect.fnUntraced(function* (
  { read, search }: TokenCalls,
  payload: TokenCreateRequest,
  key: ApiKey | undefined
) {
  const matches = (yield* search(payload.name, OPERATION)).filter(
    (token) =>
      token.name === payload.name &&
      token.remain_quota === payload.remain_quota &&
      isSameExpiry(token.expired_time, payload.expired_time) &&
      (key === undefined || couldHaveKey(token, key))
  )
  const id = Math.max(...matches.map((token) => token.id))
  const found = matches.find((token) => token.id === id)
  return found === undefined || key !== undefined ? found : yield* read(id, OPERATION)
})

/** Creates a token and reads back what the response leaves out. */
export const createToken = Effect.fnUntraced(function* (calls: TokenCalls, token: NewToken) {
  const payload: TokenCreateRequest = {
    name: token.name,
    expired_time: token.expires ?? NEVER_EXPIRES,
    remain_quota: token.remainQuota,
    subnet: token.subnet ?? "",
    ...(token.extra !== undefined && { extra: token.extra })
  }
  const { id, key, record } = parseCreation(Redacted.value(yield* calls.create(payload)))
  const readBack = id === undefined ? findCreated(calls, payload, key) : calls.read(id, OPERATION)
  if (key !== undefined) {
    // The key is not returned again: a failed read must neither lose it nor delay it.
    const once = Effect.orElseSucceed(withRetryPolicy(RETRY_NEVER)(readBack), () => undefined)
    const complete = record ?? (yield* once)
    if (complete !== undefined) return { ...tokenOf(complete), key }
    // The gateway returned only the key: the rest is as requested.
    const { id: _, ...requested } = tokenOf({ ...payload, id: 0, status: 1 })
    return { ...(id !== undefined && { id }), ...requested, key }
  }
  const failedRead = ({ reason, requestId }: GatewayError) => {
    const why = reason.message.replace(/[.!?…]*$/, "")
    const message = `The gateway created the token${idText(id)}, and reading it back failed: ${why}. ${ADVICE}`
    return calls.invalid(OPERATION, message, requestId)
  }
  const found = (yield* Effect.mapError(readBack, failedRead)) ?? record
  const created = found && tokenOf(found)
  if (created?.key !== undefined) return { ...created, key: created.key }
  const message = `The gateway says that it created the token${idText(created?.id)}, and does not show its key. ${ADVICE}`
  return yield* calls.invalid(OPERATION, message)
}) satisfies (calls: TokenCalls, token: NewToken) => Effect.Effect<CreatedToken, GatewayError>
