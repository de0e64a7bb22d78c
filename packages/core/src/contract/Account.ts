/**
 * `/api/user` and `/api/token`: the user and the API keys, which the interface calls tokens.
 *
 * Responses have their content in `data`. Gateways of this family also refuse with status 200 and `success: false`.
 */
import { DateTime, type Duration, Effect, Option, Schema, SchemaTransformation } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { failures } from "./Failure.ts"
import { Quota } from "./Quota.ts"
import { AccessTokenAuth } from "./Credentials.ts"
import { envelopeOf, namedOpenStruct, openStruct, optional } from "./Fields.ts"

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

const ExpiryCodec = Schema.Json.pipe(
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
  username: Schema.String,
  quota: Quota,
  /** Not part of the interface. Declared, like `password`, so that it is redacted. */
  access_token: optional(Secret("SystemAccessToken")),
  password: optional(Secret("password"))
})

/** An API key. Interface: “Token (API key)”. */
export const TokenRecord = namedOpenStruct("Token", {
  id: Schema.Int,
  name: Schema.String,
  /** In full on creation. Most gateways mask or omit it in lists. */
  key: optional(Secret("ApiKey")),
  /** 1 enabled, 0 disabled. Other gateways use 2 disabled, 3 expired, 4 exhausted. */
  status: Schema.Int,
  expired_time: Expiry,
  remain_quota: Quota,
  /** The addresses allowed to use it; empty allows all. */
  subnet: optional(Schema.String)
})
export type TokenRecord = typeof TokenRecord.Type

/** A list. Some gateways send a page, `{items, total}`, or `null` for an empty list. */
export const TokenList = Schema.Union([
  Schema.Array(TokenRecord),
  openStruct({
    items: Schema.NullOr(Schema.Array(TokenRecord)),
    /** The number of tokens on all pages. */
    total: optional(Schema.Int)
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
  name: Schema.String,
  expired_time: Expiry,
  remain_quota: Quota,
  subnet: optional(Schema.String)
})
export type TokenCreateRequest = typeof TokenCreateRequest.Type

/** `id`, and the fields to change. Many gateways clear omitted fields. */
export const TokenUpdateRequest = namedOpenStruct("TokenUpdateRequest", {
  id: Schema.Int,
  name: optional(Schema.String),
  expired_time: Schema.optionalKey(Expiry),
  remain_quota: optional(Quota),
  /** 1 or 0. */
  status: optional(Schema.Int),
  subnet: optional(Schema.String)
})
export type TokenUpdateRequest = typeof TokenUpdateRequest.Type

const params = { id: Schema.Int }

/** The calls of `/api/user` and `/api/token`. Interface: “Account management”. */
export const AccountGroup = HttpApiGroup.make("account")
  .add(
    HttpApiEndpoint.get("user", "/api/user/self", { success: UserResponse, error: failures }),
    /** Creates a new system access token and revokes the old one: a GET with an effect. */
    HttpApiEndpoint.get("rotateAccessToken", "/api/user/token", { success: AnyResponse, error: failures }),
    HttpApiEndpoint.get("tokens", "/api/token/", {
      query: {
        /** The page size. */
        num: Schema.optionalKey(Schema.Int),
        /** The page. Not part of the interface: gateways count from 0 or from 1, or ignore it. */
        p: Schema.optionalKey(Schema.Int),
        /** `num` by the name that other gateways use. */
        size: Schema.optionalKey(Schema.Int)
      },
      success: TokensResponse,
      error: failures
    }),
    HttpApiEndpoint.post("createToken", "/api/token/", {
      payload: TokenCreateRequest,
      success: TokenResponse,
      error: failures
    }),
    HttpApiEndpoint.put("updateToken", "/api/token/", {
      /** Some gateways change only the status with it, and everything else without it. */
      query: { status_only: Schema.optionalKey(Schema.String) },
      payload: TokenUpdateRequest,
      success: AnyResponse,
      error: failures
    }),
    HttpApiEndpoint.get("searchTokens", "/api/token/search", {
      query: { keyword: Schema.String },
      success: TokensResponse,
      error: failures
    }),
    HttpApiEndpoint.get("token", "/api/token/:id", { params, success: TokenResponse, error: failures }),
    HttpApiEndpoint.delete("removeToken", "/api/token/:id", { params, success: AnyResponse, error: failures })
  )
  .middleware(AccessTokenAuth)
  .annotateMerge(OpenApi.annotations({ title: "Account", description: "The user and the API keys" }))
