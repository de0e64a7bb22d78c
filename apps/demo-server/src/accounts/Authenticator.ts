/** Checks credentials: API keys, system access tokens, and sessions of the page. */
import { Failure } from "@sluice/core/contract"
import { Clock, Context, Effect, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import type { MemberAccess } from "../contract/Names.ts"
import { parseSubnet } from "../network/IpAddress.ts"
import { isSameOrigin, originHost } from "../network/Origin.ts"
import { catchSqlError } from "../sql/StoreFailure.ts"
import { sessionTokenOf } from "./SessionCookie.ts"
import { SignIn } from "./SignIn.ts"
import { ApiKeys, type KeyWithUser } from "./ApiKeys.ts"
import { keyDisabled, userDisabled } from "./EndedCredentials.ts"
import { type UserRow, Users } from "./Users.ts"

const unauthorized = (message: string) => new Failure({ status: 401, message, code: "invalid_api_key" })

/** Names neither the allowed networks nor the caller's address. */
const addressNotAllowed = new Failure({
  status: 403,
  message: "This API key may not be used from this address. Its `subnet` lists the allowed networks",
  code: "address_not_allowed"
})

export const documentsNotAllowed = new Failure({
  status: 403,
  message: 'This API key may not use the documents. PUT /api/token/ with `documents: "read"` allows it',
  code: "documents_not_allowed"
})

const readOnlyKey = new Failure({
  status: 403,
  message:
    'This API key may only read the documents. PUT /api/token/ with `documents: "write"` allows changes',
  code: "documents_not_allowed"
})

/** Characters of an origin that messages repeat. */
const SHOWN_ORIGIN = 200

/** The cookie came from another origin, or a proxy changed the `Host` header. */
export const crossOrigin = ({ headers: { host, origin } }: HttpServerRequest.HttpServerRequest): Failure => {
  const mismatch =
    origin === undefined || originHost(origin) === host
      ? ""
      : `. This page is at ${origin.slice(0, SHOWN_ORIGIN)}, but the server was called as ${host}. A proxy in front of the page must pass on the Host header`
  return new Failure({
    status: 403,
    message: `A session works only from the page itself. Programs should send an API key${mismatch}`,
    code: "cross_origin"
  })
}

/** The authenticated user. With `key`, the user has only the key's rights. */
export interface Identity {
  readonly user: Pick<UserRow, "id" | "username" | "role">
  readonly key: KeyWithUser | undefined
}

/** The address of the current request. Headers of trusted proxies are already applied. */
export const callerAddress = ({ remoteAddress }: HttpServerRequest.HttpServerRequest): string =>
  Option.getOrElse(remoteAddress, () => "")

/** The bearer token of a request; empty without one. */
export const bearerToken = ({ headers }: HttpServerRequest.HttpServerRequest): string =>
  /^bearer +(?! )(.*)$/i.exec(headers["authorization"] ?? "")?.[1] ?? ""

/** Why an existing key may not be used now, from this address. */
export const keyFailure = (
  key: Pick<KeyWithUser, "user_status" | "status" | "expires_at" | "subnet">,
  now: number,
  address: string
): Failure | undefined => {
  if (key.user_status !== 1) return userDisabled
  if (key.status !== 1) return keyDisabled
  if (key.expires_at !== null && key.expires_at <= now) {
    return unauthorized(
      "This API key has expired. Change its expired_time with PUT /api/token/, or use another"
    )
  }
  // An unreadable list allows no address.
  return parseSubnet(key.subnet)?.(address) === true ? undefined : addressNotAllowed
}

/** One function for each kind of credential. Messages never repeat a credential. */
export const makeAuthenticator = Effect.gen(function* () {
  const keys = yield* ApiKeys
  const users = yield* Users
  const signIn = yield* SignIn

  const fromKey = (key: KeyWithUser) =>
    Effect.contextWith((context: Context.Context<HttpServerRequest.HttpServerRequest>) => {
      const now = Context.get(context, Clock.Clock).currentTimeMillisUnsafe()
      const failure = keyFailure(
        key,
        now,
        callerAddress(Context.get(context, HttpServerRequest.HttpServerRequest))
      )
      if (failure !== undefined) return Effect.fail(failure)
      const { role, user_id: id, username } = key
      return Effect.succeed<Identity>({ user: { id, username, role }, key })
    })

  const byKey = Effect.fnUntraced(function* (secret: string) {
    if (secret === "") {
      return yield* unauthorized("No credential. Send the API key as `Authorization: Bearer …`")
    }
    const key = yield* catchSqlError(keys.find(secret))
    if (key !== undefined) return yield* fromKey(key)
    const isToken = (yield* catchSqlError(users.bySystemToken(secret))) !== undefined
    return yield* unauthorized(
      isToken
        ? "This is a system access token, which is for /api. Use an API key here"
        : "Unknown API key. The server printed the first one when it first started. Create more on the Account page or with POST /api/token/."
    )
  })

  const byToken = Effect.fnUntraced(function* (secret: string) {
    if (secret === "") {
      return yield* unauthorized("No credential. Send the system access token as `Authorization: Bearer …`")
    }
    const user = yield* catchSqlError(users.bySystemToken(secret))
    if (user !== undefined) {
      return user.status === 1 ? ({ user, key: undefined } satisfies Identity) : yield* userDisabled
    }
    const isKey = (yield* catchSqlError(keys.find(secret))) !== undefined
    return yield* unauthorized(
      isKey
        ? "This is an API key, which is for /v1. Use the system access token here"
        : "Unknown system access token. The server printed the first one when it first started. Replace it on the Account page or with GET /api/user/token."
    )
  })

  /** Undefined without a valid session. A session opened with a key has the key's rights. */
  const bySession = Effect.fnUntraced(function* (token: string) {
    const session = yield* catchSqlError(signIn.session(token))
    if (session === undefined) return undefined
    if (session.token_id === null) {
      const user = yield* catchSqlError(users.get(session.user_id))
      if (user?.status !== 1) return yield* userDisabled
      return { user, key: undefined } satisfies Identity
    }
    const key = yield* catchSqlError(keys.byId(session.token_id))
    return key === undefined ? undefined : yield* fromKey(key)
  })

  /**
   * Authenticates the current request by the page's cookie; undefined without one.
   *
   * **Details.** An `Authorization` header takes precedence, even if it is wrong. Requests of another origin that change
   * something fail.
   */
  const sessionUser = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const token = request.headers["authorization"] === undefined ? sessionTokenOf(request) : ""
    if (token === undefined || token === "") return Effect.undefined
    return Effect.filterOrFail(
      bySession(token),
      (identity) => identity === undefined || isSameOrigin(request),
      () => crossOrigin(request)
    )
  })

  return { byKey, byToken, bySession, sessionUser }
})

/** Fails if the key may not read, or write, the documents. */
export const requireDocuments =
  (needed: MemberAccess) =>
  (identity: Identity): Effect.Effect<Identity, Failure> => {
    const { documents = "write" } = identity.key ?? {}
    if (documents === "none") return Effect.fail(documentsNotAllowed)
    return needed === "write" && documents === "read" ? Effect.fail(readOnlyKey) : Effect.succeed(identity)
  }
