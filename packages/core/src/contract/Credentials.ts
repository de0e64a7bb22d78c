/** The two credentials of a gateway: two types, so that neither can stand where the other belongs. */
import { Schema } from "effect"

/** What a header can carry. A secret read from a file often ends with a line break: it is trimmed. */
const Secret = Schema.Trim.check(
  Schema.isPattern(/^[\x21-\x7e]+$/, { expected: "one word of visible ASCII characters" })
)

/** Opens `/v1`: models are called with it. It prints as `<redacted:ApiKey>`. */
export const ApiKey = Schema.RedactedFromValue(Secret, { label: "ApiKey", disallowEncode: true }).pipe(
  Schema.brand("ApiKey")
)
export type ApiKey = typeof ApiKey.Type

/** Opens `/api`: the account is managed with it. It prints as `<redacted:SystemAccessToken>`. */
export const SystemAccessToken = Schema.RedactedFromValue(Secret, {
  label: "SystemAccessToken",
  disallowEncode: true
}).pipe(Schema.brand("SystemAccessToken"))
export type SystemAccessToken = typeof SystemAccessToken.Type

/** An `ApiKey` of a plain string. Throws when no header could carry it, without showing it. */
export const apiKey: (value: string) => ApiKey = Schema.decodeSync(ApiKey)

/** A `SystemAccessToken` of a plain string. Throws when no header could carry it, without showing it. */
export const systemAccessToken: (value: string) => SystemAccessToken = Schema.decodeSync(SystemAccessToken)
