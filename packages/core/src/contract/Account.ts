/**
 * `/api/user` and `/api/token`: the user and the API keys, which the interface calls tokens.
 *
 * Responses have their content in `data`. Gateways of this family also refuse with status 200 and `success: false`.
 */
import { DateTime, type Duration, Effect, Option, Schema, SchemaTransformation } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Quota } from "./Quota.ts"
import { AccessTokenAuth } from "./Credentials.ts"
import { field, envelopeOf, namedOpenStruct, openStruct, optional } from "./Fields.ts"

/**
 * When a token expires: never, at a time (in whole seconds), or `raw` in a form that is not known here.
 *
 * The interface shows only -1, which means never. Seconds since 1970 are common.
 */
export type Expiry =
  | { readonly _tag: "Never" }
  | { readonly _tag: "At"; readonly at: DateTime.Utc }
  | { readonly _tag: "Unknown"; readonly raw: Schema.Json }

export const NEVER_EXPIRES: Expiry = { _tag: "Never" }

/** The last second of the year 9999. Larger numbers are not seconds. */
const LAST_SECOND = 253_402_300_799

const isSeconds = (value: Schema.Json): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= LAST_SECOND

const isExpiry = (u: unknown): u is Expiry => {
  if (typeof u !== "object" || u === null || !("_tag" in u)) return false
  if (u._tag === "At") return "at" in u && DateTime.isDateTime(u.at) && isSeconds(secondsOf(u.at))
  return u._tag === "Never" || (u._tag === "Unknown" && "raw" in u)
}

const secondsOf = (at: DateTime.DateTime) => Math.floor(DateTime.toEpochMillis(at) / 1000)

/** Any JSON, documented as what the interface shows. */
const WireExpiry = Schema.Json.check(
  Schema.makeFilter(() => undefined, {
    representation: { id: "@sluice/core/expiry", payload: null, schemas: [] },
    toJsonSchema: () => ({ type: "integer", minimum: -1, maximum: LAST_SECOND })
  })
)

const ExpiryCodec = WireExpiry.pipe(
  Schema.decodeTo(
    Schema.declare(isExpiry, { expected: "an expiry between 1970 and 9999" }),
    SchemaTransformation.transform({
      decode: (value): Expiry => {
        if (value === -1) return NEVER_EXPIRES
        return isSeconds(value)
          ? { _tag: "At", at: DateTime.makeUnsafe(value * 1000) }
          : { _tag: "Unknown", raw: value }
      },
      encode: (expiry): Schema.Json => {
        if (expiry._tag === "Never") return -1
        return expiry._tag === "At" ? secondsOf(expiry.at) : expiry.raw
      }
    })
  )
)

const expiryAt = (time: DateTime.DateTime.Input): Expiry => {
  const at = Option.getOrUndefined(DateTime.make(time))
  if (at === undefined || !isSeconds(secondsOf(at)))
    throw new RangeError("The expiry is not a time from 1970 to 9999.")
  return { _tag: "At", at: DateTime.toUtc(at) }
}

/**
 * Encoded as -1, seconds since 1970 (to the year 9999), or `raw`.
 *
 * `Expiry.never`; `Expiry.at("2030-01-01")` for a time, which throws for another value; `Expiry.after("30 days")` from now.
 */
export const Expiry = Object.assign(ExpiryCodec, {
  never: NEVER_EXPIRES,
  at: expiryAt,
  after: (duration: Duration.Input): Effect.Effect<Expiry> =>
    Effect.map(DateTime.now, (now) => expiryAt(DateTime.addDuration(now, duration)))
})

/** A secret in a response. Any text is accepted: some gateways send a masked key, or an empty text. */
const Secret = (label: string) => Schema.RedactedFromValue(Schema.String, { label })

/** The owner of the system access token, and the balance. Interface: “Account user”. */
export const UserRecord = namedOpenStruct("User", {
  username: field("The user's name.", Schema.String),
  quota: field("The balance in quota units: 500,000 are 1 USD. Negative if overdrawn.", Quota),
  access_token: field("The system access token. Rarely returned.", optional(Secret("SystemAccessToken"))),
  password: field("Never returned. Declared so that it is redacted.", optional(Secret("password")))
})

/** An API key. Interface: “Token (API key)”. */
export const TokenRecord = namedOpenStruct("Token", {
  id: field("The token's id.", Schema.Int),
  name: field("The name shown to people.", Schema.String),
  key: field("The API key: whole on creation, else masked or absent.", optional(Secret("ApiKey"))),
  status: field("1 enabled, 0 disabled. Other gateways use 2 disabled, 3 expired, 4 exhausted.", Schema.Int),
  expired_time: field("When it expires, in seconds since 1970; -1 is never.", Expiry),
  remain_quota: field("The quota that is left, in units: 500,000 are 1 USD.", Quota),
  subnet: field("The addresses allowed to use it; empty allows all.", optional(Schema.String))
})
export type TokenRecord = typeof TokenRecord.Type

/** A list. Some gateways send a page, `{items, total}`, or `null` for an empty list. */
export const TokenList = Schema.Union([
  Schema.Array(TokenRecord),
  openStruct({
    items: field("The tokens of this page.", Schema.NullOr(Schema.Array(TokenRecord))),
    total: field("The number of tokens on all pages.", optional(Schema.Int))
  }),
  Schema.Null
])
export type TokenList = typeof TokenList.Type

/** `GET /api/user/self`. */
export const UserResponse = envelopeOf(UserRecord).annotate({ identifier: "UserResponse" })
export const TokenResponse = envelopeOf(TokenRecord).annotate({ identifier: "TokenResponse" })
export const TokensResponse = envelopeOf(TokenList).annotate({ identifier: "TokensResponse" })

/** The interface does not define this body. Only `success: false` is a failure. */
const AnyResponse = [Schema.Json.annotate({ identifier: "AnyResponse" }), HttpApiSchema.NoContent] as const

/** A token to create. Interface: “Account management”. */
export const TokenCreateRequest = namedOpenStruct("TokenCreateRequest", {
  name: field("The name shown to people.", Schema.String),
  expired_time: field("When it expires, in seconds since 1970; -1 is never.", Expiry),
  remain_quota: field("The quota of the key, in units: 500,000 are 1 USD.", Quota),
  subnet: field("Networks that may use it, separated by commas; empty: all.", optional(Schema.String))
})
export type TokenCreateRequest = typeof TokenCreateRequest.Type

/** `id`, and the fields to change. Many gateways clear omitted fields. */
export const TokenUpdateRequest = namedOpenStruct("TokenUpdateRequest", {
  id: field("The token's id.", Schema.Int),
  name: field("The name shown to people.", optional(Schema.String)),
  expired_time: field("When it expires, in seconds since 1970; -1 is never.", Schema.optionalKey(Expiry)),
  remain_quota: field("The quota that is left, in units: 500,000 are 1 USD.", optional(Quota)),
  status: field("1 enabled, 0 disabled.", optional(Schema.Int)),
  subnet: field("Networks that may use it, separated by commas; empty: all.", optional(Schema.String))
})
export type TokenUpdateRequest = typeof TokenUpdateRequest.Type

const params = { id: field("The token's id.", Schema.Int) }

/** The calls of `/api/user` and `/api/token`. Interface: “Account management”. */
export const AccountGroup = HttpApiGroup.make("account")
  .add(
    HttpApiEndpoint.get("user", "/api/user/self", { success: UserResponse }),
    /** Creates a new system access token and revokes the old one: a GET with an effect. */
    HttpApiEndpoint.get("rotateAccessToken", "/api/user/token", { success: AnyResponse }),
    HttpApiEndpoint.get("tokens", "/api/token/", {
      query: {
        num: field("The page size.", Schema.optionalKey(Schema.Int), 10),
        p: field(
          "The page, from 0. Not part of the interface: gateways count from 0 or from 1, or ignore it.",
          Schema.optionalKey(Schema.Int),
          0
        ),
        size: field("`num` by the name that other gateways use.", Schema.optionalKey(Schema.Int))
      },
      success: TokensResponse
    }),
    HttpApiEndpoint.post("createToken", "/api/token/", {
      payload: TokenCreateRequest,
      success: TokenResponse
    }),
    HttpApiEndpoint.put("updateToken", "/api/token/", {
      query: {
        status_only: field("Only the status is changed, at some gateways.", Schema.optionalKey(Schema.String))
      },
      payload: TokenUpdateRequest,
      success: AnyResponse
    }),
    HttpApiEndpoint.get("searchTokens", "/api/token/search", {
      query: { keyword: field("A part of the token's name.", Schema.String) },
      success: TokensResponse
    }),
    HttpApiEndpoint.get("token", "/api/token/:id", { params, success: TokenResponse }),
    HttpApiEndpoint.delete("removeToken", "/api/token/:id", { params, success: AnyResponse })
  )
  .middleware(AccessTokenAuth)
  .annotateMerge(OpenApi.annotations({ title: "Account", description: "The user and the API keys" }))
