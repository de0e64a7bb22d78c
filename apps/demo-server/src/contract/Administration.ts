/** What administrators do: users, and the log of who changed what. Beyond the interface; by system access token. */
import { AccessTokenAuth, failures, MalformedRequest, open } from "@sluice/core/contract"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Enveloped } from "./Enveloped.ts"
import { Role } from "./Role.ts"

const given = <S extends Schema.Top>(schema: S) => Schema.optional(Schema.NullOr(schema))

export const UserInfo = Schema.Struct({
  id: Schema.String,
  username: Schema.String,
  role: Role,
  /** 1 enabled, 0 disabled: no credential of the user opens anything. */
  status: Schema.Literals([0, 1]),
  /** The balance, in quota units. */
  quota: Schema.Int,
  /** Of each key of theirs in a minute, in place of the server's limits; 0: the server's. */
  requests_per_minute: Schema.Int,
  tokens_per_minute: Schema.Int,
  /** Seconds since 1970. */
  created_time: Schema.Int
})

/** A user who was just made. `access_token` is shown this once: by it they make their API keys. */
export const NewUser = Schema.Struct({ ...UserInfo.fields, access_token: Schema.String })

export const UserCreateRequest = open(
  {
    username: Schema.String,
    /** The balance to begin with, in quota units: 0. */
    quota: given(Schema.Int),
    /** `user`. */
    role: given(Role),
    /** Of each key of theirs in a minute, in place of the server's limits; 0: the server's. */
    requests_per_minute: given(Schema.Int),
    tokens_per_minute: given(Schema.Int)
  },
  "UserCreateRequest"
)

/** `id`, and what is to change. */
export const UserUpdateRequest = open(
  {
    id: Schema.String,
    username: given(Schema.String),
    role: given(Role),
    status: given(Schema.Int),
    /** Quota units to add to the balance; below 0: to take from it, if it has as many. */
    add_quota: given(Schema.Int),
    /** Of each key of theirs in a minute, in place of the server's limits; 0: the server's. */
    requests_per_minute: given(Schema.Int),
    tokens_per_minute: given(Schema.Int)
  },
  "UserUpdateRequest"
)

/** Who did what to whom or what, when, and from which address. */
export const AuditEntry = Schema.Struct({
  id: Schema.Int,
  /** Seconds since 1970. */
  time: Schema.Int,
  /** The user's id. */
  user: Schema.String,
  /** By which credential. */
  by: Schema.String,
  address: Schema.String,
  /** Such as `token.create`. */
  action: Schema.String,
  /** The id of what was changed. */
  subject: Schema.String,
  /** The values given; secrets are never among them. */
  details: Schema.Record(Schema.String, Schema.Json)
})

const page = {
  /** Entries of a page: 10. */
  num: Schema.optionalKey(Schema.Int),
  /** Which page, from 0. */
  p: Schema.optionalKey(Schema.Int)
}

export class Administration extends HttpApiGroup.make("administration")
  .add(
    HttpApiEndpoint.post("createUser", "/api/user", {
      payload: UserCreateRequest,
      success: Enveloped(NewUser),
      error: failures
    }),
    HttpApiEndpoint.get("users", "/api/user", {
      query: page,
      success: Enveloped(Schema.Array(UserInfo)),
      error: failures
    }),
    HttpApiEndpoint.put("updateUser", "/api/user", {
      payload: UserUpdateRequest,
      success: Enveloped(UserInfo),
      error: failures
    }),
    /** A new system access token for a user who has lost theirs, which has ended then. */
    HttpApiEndpoint.post("renewUserToken", "/api/user/:id/token", {
      params: { id: Schema.String },
      success: Enveloped(Schema.String),
      error: failures
    }),
    /**
     * A new system access token for whoever asks, in place of the one that they had: what the settings page calls, where
     * a session stands for the token. Open to every user.
     */
    HttpApiEndpoint.post("renewToken", "/api/user/token", {
      success: Enveloped(Schema.String),
      error: failures
    }),
    /** The newest first. */
    HttpApiEndpoint.get("audit", "/api/audit", {
      query: page,
      success: Enveloped(Schema.Array(AuditEntry)),
      error: failures
    })
  )
  .middleware(AccessTokenAuth)
  .middleware(MalformedRequest) {}
