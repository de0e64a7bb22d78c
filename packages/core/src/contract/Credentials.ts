/** The two credentials of a gateway, as distinct types, and the middlewares that check them. */
import { Context, Schema } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import { failures } from "./Failure.ts"

/** A value that a header can carry. It is trimmed: a secret read from a file often ends with a line break. */
const Secret = Schema.Trim.check(
  Schema.isPattern(/^[\x21-\x7e]+$/, { expected: "one word of visible ASCII characters" })
)

/** The credential of `/v1`, which calls models. Prints as `<redacted:ApiKey>`. */
export const ApiKey = Schema.RedactedFromValue(Secret, { label: "ApiKey", disallowEncode: true }).pipe(
  Schema.brand("ApiKey")
)
export type ApiKey = typeof ApiKey.Type

/** The credential of `/api`, which manages the account. Prints as `<redacted:SystemAccessToken>`. */
export const SystemAccessToken = Schema.RedactedFromValue(Secret, {
  label: "SystemAccessToken",
  disallowEncode: true
}).pipe(Schema.brand("SystemAccessToken"))
export type SystemAccessToken = typeof SystemAccessToken.Type

/** Makes an `ApiKey` from a string. Throws if a header cannot carry it; the error does not show it. */
export const apiKey: (value: string) => ApiKey = Schema.decodeSync(ApiKey)

/** Makes a `SystemAccessToken` from a string. Throws if a header cannot carry it; the error does not show it. */
export const systemAccessToken: (value: string) => SystemAccessToken = Schema.decodeSync(SystemAccessToken)

/** The authenticated caller. The two middlewares below provide it to handlers. */
export class Principal extends Context.Service<
  Principal,
  {
    readonly user: string
    /** The identifier of the API key, never its value. Absent for calls of `/api`. */
    readonly key?: string
  }
>()("@sluice/core/Principal") {}

/** `/v1`: `Authorization: Bearer <API key>`. */
export class ApiKeyAuth extends HttpApiMiddleware.Service<ApiKeyAuth, { provides: Principal }>()(
  "@sluice/core/ApiKeyAuth",
  { requiredForClient: true, security: { apiKey: HttpApiSecurity.bearer }, error: failures }
) {}

/** `/api`: `Authorization: Bearer <system access token>`. An API key is not accepted. */
export class AccessTokenAuth extends HttpApiMiddleware.Service<AccessTokenAuth, { provides: Principal }>()(
  "@sluice/core/AccessTokenAuth",
  { requiredForClient: true, security: { systemAccessToken: HttpApiSecurity.bearer }, error: failures }
) {}
