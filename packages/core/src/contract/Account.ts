/**
 * The user and the keys, which the paths call tokens: `/api/user` and `/api/token`, with a system access token.
 *
 * Answers wrap what they carry in `data`; this family of gateways also refuses with status 200 and `success: false`.
 */
import { DateTime, Schema, SchemaTransformation } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { failures } from "./Failure.ts"
import { Quota } from "./Quota.ts"
import { AccessTokenAuth } from "./Credentials.ts"
import { envelopeOf, openStruct, optional } from "./Fields.ts"

/**
 * When a token expires: never, at a time, or what the gateway says in a form of its own.
 *
 * -1 means never. The interface shows no other form; seconds since 1970 are common.
 */
export type Expiry =
  | { readonly _tag: "Never" }
  /** To the second. */
  | { readonly _tag: "At"; readonly at: DateTime.Utc }
  | { readonly _tag: "Unknown"; readonly raw: Schema.Json }

/** No expiry: -1. */
export const NEVER_EXPIRES: Expiry = { _tag: "Never" }

/** The last second of the year 9999. A larger number is no count of seconds. */
const LAST_SECOND = 253_402_300_799

const isSeconds = (value: Schema.Json): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= LAST_SECOND

const isExpiry = (u: unknown): u is Expiry => {
  if (typeof u !== "object" || u === null || !("_tag" in u)) return false
  if (u._tag === "At") return "at" in u && DateTime.isDateTime(u.at) && isSeconds(secondsOf(u.at))
  return u._tag === "Never" || (u._tag === "Unknown" && "raw" in u)
}

const secondsOf = (at: DateTime.DateTime) => Math.floor(DateTime.toEpochMillis(at) / 1000)

/** On the wire -1, seconds since 1970 (to the year 9999), or what the gateway sent. */
export const Expiry = Schema.Json.pipe(
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

/** A secret in an answer. Gateways put masked keys, or an empty text, in its place: it is read as it comes. */
const Secret = (label: string) => Schema.RedactedFromValue(Schema.String, { label })

/** Who the system access token belongs to, and the balance. Interface: “Account user”. */
export const UserRecord = openStruct(
  {
    username: Schema.String,
    /** The balance. */
    quota: Quota,
    /** Not of the interface; declared so that it is concealed where a gateway sends it. */
    access_token: optional(Secret("SystemAccessToken")),
    password: optional(Secret("password"))
  },
  "User"
)

/** An API key as the account has it. Interface: “Token (API key)”. */
export const TokenRecord = openStruct(
  {
    id: Schema.Int,
    name: Schema.String,
    /** Whole when the token is created; masked or left out in lists of most gateways. */
    key: optional(Secret("ApiKey")),
    /** 1 enabled, 0 disabled. Others of the family: 2 disabled, 3 expired, 4 exhausted. */
    status: Schema.Int,
    expired_time: Expiry,
    /** What the token may still spend. */
    remain_quota: Quota,
    /** Addresses that may use it; empty: all. */
    subnet: optional(Schema.String)
  },
  "Token"
)
export type TokenRecord = typeof TokenRecord.Type

/** A list. Gateways of this family also send pages of it, `{items, total}`, and `null` for an empty one: read as well. */
export const TokenList = Schema.Union([
  Schema.Array(TokenRecord),
  openStruct({
    items: Schema.NullOr(Schema.Array(TokenRecord)),
    /** Tokens of all pages. */
    total: optional(Schema.Int)
  }),
  Schema.Null
])
export type TokenList = typeof TokenList.Type

/** `GET /api/user/self`. */
export const UserResponse = envelopeOf(UserRecord).annotate({ identifier: "UserResponse" })
/** One token: when it is created, and by its id. */
export const TokenResponse = envelopeOf(TokenRecord).annotate({ identifier: "TokenResponse" })
/** A page of tokens, or those that were found. */
export const TokensResponse = envelopeOf(TokenList).annotate({ identifier: "TokensResponse" })

/** A body that the interface does not show, or none: any is right that does not say `success: false`. */
export const AnyResponse = [
  Schema.Json.annotate({ identifier: "AnyResponse" }),
  HttpApiSchema.NoContent
] as const

/** A token to make. Interface: “Account management”. */
export const TokenCreateRequest = openStruct(
  {
    name: Schema.String,
    expired_time: Expiry,
    remain_quota: Quota,
    subnet: optional(Schema.String)
  },
  "TokenCreateRequest"
)
export type TokenCreateRequest = typeof TokenCreateRequest.Type

/** `id`, and what is to change. Many gateways empty what is left out. */
export const TokenUpdateRequest = openStruct(
  {
    id: Schema.Int,
    name: optional(Schema.String),
    expired_time: Schema.optionalKey(Expiry),
    remain_quota: optional(Quota),
    /** 1 or 0. */
    status: optional(Schema.Int),
    subnet: optional(Schema.String)
  },
  "TokenUpdateRequest"
)
export type TokenUpdateRequest = typeof TokenUpdateRequest.Type

const params = { id: Schema.Int }

/** The calls of `/api/user` and `/api/token`. Interface: “Account management”. */
export const AccountGroup = HttpApiGroup.make("account")
  .add(
    HttpApiEndpoint.get("user", "/api/user/self", { success: UserResponse, error: failures }),
    /** Makes a new system access token and ends the old one: a GET with an effect. */
    HttpApiEndpoint.get("rotateAccessToken", "/api/user/token", { success: AnyResponse, error: failures }),
    HttpApiEndpoint.get("tokens", "/api/token/", {
      query: {
        /** Tokens of a page. */
        num: Schema.optionalKey(Schema.Int),
        /** Which page: not of the interface. Some gateways count from 0, some from 1, some do not know it. */
        p: Schema.optionalKey(Schema.Int),
        /** `num` under the name that others of the family know. */
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
      /** Where it is given, some gateways change the status alone, and without it all but the status. */
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
  .annotateMerge(
    OpenApi.annotations({ title: "Account", description: "The user, and the keys to call models" })
  )
