/** Token records as the program sees them, and the credentials in responses. */
import { Equal, Option, Redacted, Schema } from "effect"
import type { Token } from "../../gateway/Account.ts"
import { definedFields } from "../../DefinedFields.ts"
import { Expiry, type TokenRecord } from "../../contract/Account.ts"
import { ApiKey, SystemAccessToken } from "../../contract/Credentials.ts"

export const decodeKey = Schema.decodeUnknownOption(ApiKey)
export const decodeAccessToken = Schema.decodeUnknownOption(SystemAccessToken)

/** The key of a text, unless it is masked with asterisks. */
export const fullKey = (shown: unknown): ApiKey | undefined =>
  typeof shown === "string" && !shown.includes("*") ? Option.getOrUndefined(decodeKey(shown)) : undefined

/** The `key` field as sent: full, masked or empty. */
export const shownKey = ({ key }: TokenRecord): string => (key === undefined ? "" : Redacted.value(key))

/** False if the record shows another key. Some gateways omit the prefix `sk-`. */
export const couldHaveKey = (record: TokenRecord, key: ApiKey): boolean => {
  const other = fullKey(shownKey(record))
  if (other === undefined) return true
  const [a, b] = [Redacted.value(other), Redacted.value(key)]
  return a.endsWith(b) || b.endsWith(a)
}

const encodeExpiry = Schema.encodeSync(Expiry)

/** Whether two times are the same for a gateway, which has whole seconds. */
export const isSameExpiry = (a?: Expiry, b?: Expiry): boolean =>
  Equal.equals(a && encodeExpiry(a), b && encodeExpiry(b))

export const tokenOf = (record: TokenRecord): Token => {
  const { extra, id, name, status, subnet } = record
  const shown = shownKey(record)
  return definedFields({
    id,
    name,
    status,
    enabled: status === 1,
    expires: record.expired_time,
    remainQuota: record.remain_quota,
    subnet,
    key: fullKey(shown),
    maskedKey: shown.includes("*") ? shown : undefined,
    extra
  })
}
