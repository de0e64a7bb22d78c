/** What the answer to a token's creation shows of it: all, its id, its key, or nothing. */
import { Option, Predicate, Redacted, Schema } from "effect"
import type { CreatedToken, NewToken } from "../../gateway/Account.ts"
import { ApiKey } from "../../contract/Credentials.ts"
import { NEVER_EXPIRES, TokenRecord } from "../../contract/Account.ts"

export interface Made {
  readonly record: TokenRecord | undefined
  readonly id: number | undefined
  readonly key: ApiKey | undefined
}

const decodeRecord = Schema.decodeUnknownOption(Schema.toCodecJson(TokenRecord))
const decodeId = Schema.decodeUnknownOption(Schema.Int)
const decodeKey = Schema.decodeUnknownOption(ApiKey)

/** A key that is shown whole. None has an asterisk: it stands for what a gateway does not show. */
export const keyIn = (shown: unknown): ApiKey | undefined =>
  typeof shown === "string" && !shown.includes("*") ? Option.getOrUndefined(decodeKey(shown)) : undefined

/** A text where a token belongs is its key only if it looks like one: it may be a word of success. */
const KEY = /^(sk-[\w-]+|[\w-]{32,})$/

/** Each by itself: that one of them is odd does not cost the other, and the key is shown but once. */
export const madeIn = (answer: Schema.Json): Made => {
  const data = fieldsOf(answer)["data"] ?? answer
  if (typeof data === "string") {
    return { record: undefined, id: undefined, key: KEY.test(data) ? keyIn(data) : undefined }
  }
  const { id, key } = fieldsOf(data)
  return {
    record: Option.getOrUndefined(decodeRecord(data)),
    id: Option.getOrUndefined(decodeId(id)),
    key: keyIn(key)
  }
}

const fieldsOf = (value: Schema.Json): { readonly [name: string]: Schema.Json } =>
  Predicate.isObject(value) ? (value as { readonly [name: string]: Schema.Json }) : {}

/** The token as it was asked for, where the gateway shows no more of it than its key. */
export const asAsked = (
  asked: NewToken,
  { id, key }: { readonly id: number | undefined; readonly key: ApiKey }
) =>
  ({
    ...(id !== undefined && { id }),
    name: asked.name,
    status: 1,
    enabled: true,
    expires: asked.expires ?? NEVER_EXPIRES,
    remainQuota: asked.remainQuota,
    subnet: asked.subnet ?? "",
    key,
    ...(asked.extra !== undefined && { extra: asked.extra })
  }) satisfies CreatedToken

/** Whether a record may be that of a key: where it shows another one, it is not. Some gateways leave `sk-` out. */
export const mayHave = ({ key: shown }: TokenRecord, key: ApiKey): boolean => {
  const other = keyIn(shown && Redacted.value(shown))
  if (other === undefined) return true
  const [a, b] = [Redacted.value(other), Redacted.value(key)]
  return a.endsWith(b) || b.endsWith(a)
}
