/** Administration: users and the audit log. Not part of the gateway interface; needs a system access token. */
import { between, field, AccessTokenAuth, namedOpenStruct } from "@sluice/core/contract"
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Role } from "./Access.ts"

/** The envelope of successful responses under `/api`. */
export const DataEnvelope = <S extends Schema.Top>(data: S) =>
  Schema.Struct({
    success: field("Whether the call succeeded.", Schema.Literal(true)),
    message: field("Empty.", Schema.Literal("")),
    data: field("The response.", data)
  })

export const wrapData = <A>(data: A) => ({ success: true as const, message: "" as const, data })

/** A field of a request that may be absent or null. */
export const nullable = <S extends Schema.Top>(schema: S) => Schema.optional(Schema.NullOr(schema))

const limitsOf = <S extends Schema.Top>(number: S) => ({
  requests_per_minute: field("Requests per minute of each key; 0: the server's limit.", number),
  tokens_per_minute: field("Tokens per minute of each key; 0: the server's limit.", number)
})
const optionalLimits = limitsOf(nullable(Schema.Int))

export const UserInfo = Schema.Struct({
  id: field("The user's id.", Schema.String),
  username: field("The user's name.", Schema.String),
  role: field("Administrators create users and read the audit log.", Role),
  status: field("1 enabled; 0 disables all credentials of the user.", Schema.Literals([0, 1])),
  quota: field("The balance, in quota units: 500,000 are 1 USD.", Schema.Int),
  ...limitsOf(Schema.Int),
  created_time: field("When, in seconds since 1970.", Schema.Int)
})

/** A new user, who creates API keys with the access token. */
export const NewUser = Schema.Struct({
  ...UserInfo.fields,
  access_token: field("The system access token, shown only in this response.", Schema.String)
})

export const UserCreateRequest = namedOpenStruct("UserCreateRequest", {
  username: field("The user's name.", Schema.String),
  quota: field("The starting balance in quota units: 500,000 are 1 USD.", nullable(Schema.Int), 0),
  role: field("Administrators create users and read the audit log.", nullable(Role), "user"),
  ...optionalLimits
})

/** `id`, and the fields to change. */
export const UserUpdateRequest = namedOpenStruct("UserUpdateRequest", {
  id: field("The user's id.", Schema.String),
  username: field("The user's name.", nullable(Schema.String)),
  role: field("Administrators create users and read the audit log.", nullable(Role)),
  status: field("1 enabled; 0 disables all credentials of the user.", nullable(Schema.Int)),
  add_quota: field("Quota units to add; negative subtracts, to 0 at the lowest.", nullable(Schema.Int)),
  ...optionalLimits
})

const InvitationRequest = namedOpenStruct("InvitationRequest", {
  username: field("The name of the new user.", Schema.String),
  quota: field("The starting balance in quota units: 500,000 are 1 USD.", nullable(Schema.Int), 0),
  role: field("Administrators create users and read the audit log.", nullable(Role), "user"),
  hours: field("How long the link is valid, in hours: 1 to 720.", nullable(Schema.Int), 72)
})
export type InvitationRequest = typeof InvitationRequest.Type

/** A link that works once. */
export const Invitation = Schema.Struct({
  path: field(
    "The path and fragment of the link on this server, shown only in this response.",
    Schema.String
  ),
  expires_time: field("When it expires, in seconds since 1970.", Schema.Int)
})

/** Who changed what, when, and from which address. */
export const AuditEntry = Schema.Struct({
  id: field("The entry's id.", Schema.Int),
  time: field("When, in seconds since 1970.", Schema.Int),
  user: field("The user's id.", Schema.String),
  by: field("The kind of credential.", Schema.String),
  address: field("The address of the caller.", Schema.String),
  action: field("What was done, such as `token.create`.", Schema.String),
  subject: field("The id of what was changed.", Schema.String),
  details: field("The new values, without secrets.", Schema.Record(Schema.String, Schema.Json))
})

const page = {
  num: field("Entries per page.", Schema.optionalKey(Schema.Int), 10),
  p: field("The page, from 0.", Schema.optionalKey(Schema.Int), 0)
}

export class AdministrationGroup extends HttpApiGroup.make("administration")
  .add(
    HttpApiEndpoint.post("createUser", "/api/user", {
      payload: UserCreateRequest,
      success: DataEnvelope(NewUser)
    }),
    HttpApiEndpoint.get("users", "/api/user", {
      query: page,
      success: DataEnvelope(Schema.Array(UserInfo))
    }),
    HttpApiEndpoint.put("updateUser", "/api/user", {
      payload: UserUpdateRequest,
      success: DataEnvelope(UserInfo)
    }),
    /** Creates an invitation link. The first person who opens it gets the user and a session. */
    HttpApiEndpoint.post("invite", "/api/invitation", {
      payload: InvitationRequest,
      success: DataEnvelope(Invitation)
    }),
    /** Creates a new system access token for a user who has lost theirs, and revokes the old one. */
    HttpApiEndpoint.post("renewUserToken", "/api/user/:id/token", {
      params: { id: field("The user's id.", Schema.String) },
      success: DataEnvelope(Schema.String)
    }),
    /**
     * Creates a new system access token for the caller and revokes the old one. The settings page calls it with its
     * session. Open to every user.
     */
    HttpApiEndpoint.post("renewToken", "/api/user/token", {
      success: DataEnvelope(Schema.String)
    }),
    /** Newest first. */
    HttpApiEndpoint.get("audit", "/api/audit", {
      query: page,
      success: DataEnvelope(Schema.Array(AuditEntry))
    })
  )
  .middleware(AccessTokenAuth) {}

/** The calls to a model on one day, without rejected and refunded ones. */
export const DayUsage = Schema.Struct({
  day: field("In UTC, such as `2026-11-21`.", Schema.String),
  model: field("The model's id.", Schema.String),
  operation: field("`embeddings`, `rerank`, `chat`, `images` or `videos`.", Schema.String),
  calls: field("The number of calls.", Schema.Int),
  input_tokens: field("Tokens of the requests.", Schema.Int),
  output_tokens: field("Tokens of the responses.", Schema.Int),
  quota: field("The cost in quota units: 500,000 are 1 USD.", Schema.Int)
})
export type DayUsage = typeof DayUsage.Type

export class UsageGroup extends HttpApiGroup.make("usage")
  .add(
    /** Oldest day first. Days without calls are left out. */
    HttpApiEndpoint.get("usage", "/api/usage", {
      query: {
        days: field("The number of days, including today.", Schema.optionalKey(between(1, 3_660)), 30),
        user: field(
          "A user's id, for administrators. Default: the caller's.",
          Schema.optionalKey(Schema.NonEmptyString)
        )
      },
      success: DataEnvelope(Schema.Array(DayUsage))
    })
  )
  // A misspelt `user` must not fall back to the caller.
  .annotate(HttpApi.QueryParseOptions, { onExcessProperty: "error" })
  .middleware(AccessTokenAuth) {}
