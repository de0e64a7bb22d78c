/** Administration: users and the audit log. Not part of the gateway interface; needs a system access token. */
import { AccessTokenAuth, MalformedRequest, namedOpenStruct } from "@sluice/core/contract"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Role } from "./Access.ts"

/** The envelope of successful responses under `/api`. */
export const DataEnvelope = <S extends Schema.Top>(data: S) =>
  Schema.Struct({ success: Schema.Literal(true), message: Schema.Literal(""), data })

export const wrapData = <A>(data: A) => ({ success: true as const, message: "" as const, data })

const optional = <S extends Schema.Top>(schema: S) => Schema.optional(Schema.NullOr(schema))

/** Limits of each of the user's keys, in place of the server's limits; 0: the server's. */
const limits = { requests_per_minute: Schema.Int, tokens_per_minute: Schema.Int }
const optionalLimits = { requests_per_minute: optional(Schema.Int), tokens_per_minute: optional(Schema.Int) }

export const UserInfo = Schema.Struct({
  id: Schema.String,
  username: Schema.String,
  role: Role,
  /** 1 enabled; 0 disables all credentials of the user. */
  status: Schema.Literals([0, 1]),
  /** The balance, in quota units. */
  quota: Schema.Int,
  ...limits,
  /** Seconds since 1970. */
  created_time: Schema.Int
})

/** A new user. `access_token` is shown only in this response; the user creates API keys with it. */
export const NewUser = Schema.Struct({ ...UserInfo.fields, access_token: Schema.String })

export const UserCreateRequest = namedOpenStruct("UserCreateRequest", {
  username: Schema.String,
  /** Starting balance in quota units. Default: 0. */
  quota: optional(Schema.Int),
  /** Default: `user`. */
  role: optional(Role),
  ...optionalLimits
})

/** `id`, and the fields to change. */
export const UserUpdateRequest = namedOpenStruct("UserUpdateRequest", {
  id: Schema.String,
  username: optional(Schema.String),
  role: optional(Role),
  status: optional(Schema.Int),
  /** Quota units to add to the balance. Negative values subtract; the balance cannot go below 0. */
  add_quota: optional(Schema.Int),
  ...optionalLimits
})

/** Who changed what, when, and from which address. */
export const AuditEntry = Schema.Struct({
  id: Schema.Int,
  /** Seconds since 1970. */
  time: Schema.Int,
  /** The user's id. */
  user: Schema.String,
  /** The kind of credential. */
  by: Schema.String,
  address: Schema.String,
  /** Such as `token.create`. */
  action: Schema.String,
  /** The id of what was changed. */
  subject: Schema.String,
  /** The new values, without secrets. */
  details: Schema.Record(Schema.String, Schema.Json)
})

const page = {
  /** Entries per page. Default: 10. */
  num: Schema.optionalKey(Schema.Int),
  /** Page number, from 0. */
  p: Schema.optionalKey(Schema.Int)
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
    /** Creates a new system access token for a user who has lost theirs, and revokes the old one. */
    HttpApiEndpoint.post("renewUserToken", "/api/user/:id/token", {
      params: { id: Schema.String },
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
  .middleware(AccessTokenAuth)
  .middleware(MalformedRequest) {}
