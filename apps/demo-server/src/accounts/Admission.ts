/** Whether a credential opens the door at which it was shown, and what is said where it does not. */
import { Failure } from "@sluice/core/contract"
import { Clock, Effect, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { Accounts } from "./Accounts.ts"
import { ApiKeys, type HeldKey } from "./ApiKeys.ts"
import { orUnavailable } from "../sql/StoreFailure.ts"
import { parseSubnet } from "../network/IpAddress.ts"
import { type UserRow, Users } from "./Users.ts"

const unauthorized = (message: string) =>
  new Failure({ status: 401, message, code: "invalid_api_key", retryable: false })

/** Says neither which addresses may pass nor which one asked. */
const addressRefused = new Failure({
  status: 403,
  message: "This API key may not be used from this address: its `subnet` says from where it may",
  code: "address_not_allowed",
  retryable: false
})

const documentsRefused = new Failure({
  status: 403,
  message: "This API key does not open the documents: its `documents` says so, PUT /api/token/ changes it",
  code: "documents_not_allowed",
  retryable: false
})

const userDisabled = unauthorized("The user of this credential is disabled: an administrator may enable them")

/** Who was let in; `key` where they may do what that key may, and no more. */
export interface Admitted {
  readonly user: Pick<UserRow, "id" | "username" | "role">
  readonly key: HeldKey | undefined
}

/** Whence the request at hand comes; what stands for it in headers was read where proxies are known. */
export const callerAddress = Effect.map(HttpServerRequest.HttpServerRequest, ({ remoteAddress }) =>
  Option.getOrElse(remoteAddress, () => "")
)

/** The credential of the request's header; empty where there is none. */
export const bearerOf = ({ headers }: HttpServerRequest.HttpServerRequest): string =>
  /^bearer +(.*)$/i.exec(headers["authorization"] ?? "")?.[1] ?? ""

/** Told to who holds the key: it is real. */
export const refusalOf = (
  key: Pick<HeldKey, "user_status" | "status" | "expires_at" | "subnet">,
  now: number,
  address: string
): Failure | undefined => {
  if (key.user_status !== 1) return userDisabled
  if (key.status !== 1) return unauthorized("This API key is disabled: enable it by PUT /api/token/")
  if (key.expires_at !== null && key.expires_at <= now) {
    return unauthorized("This API key has expired: set its expired_time by PUT /api/token/, or use another")
  }
  // A list that cannot be read lets nobody pass.
  return parseSubnet(key.subnet)?.(address) === true ? undefined : addressRefused
}

const WHENCE = "the first was printed when the server first started"

/** The doors, each with the credential that opens it; what is wrong is told without repeating any of it. */
export const makeAdmission = Effect.gen(function* () {
  const keys = yield* ApiKeys
  const users = yield* Users
  const accounts = yield* Accounts

  /** Who holds the key, when it may be used now and from here. */
  const holderOf = Effect.fn("Admission.holder")(function* (key: HeldKey) {
    const refusal = refusalOf(key, yield* Clock.currentTimeMillis, yield* callerAddress)
    if (refusal !== undefined) return yield* refusal
    const { role, user_id: id, username } = key
    return { user: { id, username, role }, key } satisfies Admitted
  })

  /** By an API key. */
  const byKey = Effect.fn("Admission.byKey")(function* (secret: string) {
    if (secret === "") {
      return yield* unauthorized("No credential: send the API key as `Authorization: Bearer …`")
    }
    const key = yield* orUnavailable(keys.find(secret))
    if (key !== undefined) return yield* holderOf(key)
    const isToken = (yield* orUnavailable(users.bySystemToken(secret))) !== undefined
    return yield* unauthorized(
      isToken
        ? "This is the system access token, which opens /api: use the API key here"
        : `This API key is not known: ${WHENCE}, POST /api/token/ makes more`
    )
  })

  /** By a system access token. */
  const byToken = Effect.fn("Admission.byToken")(function* (secret: string) {
    if (secret === "") {
      return yield* unauthorized("No credential: send the system access token as `Authorization: Bearer …`")
    }
    const user = yield* orUnavailable(users.bySystemToken(secret))
    if (user !== undefined) {
      return user.status === 1 ? ({ user, key: undefined } satisfies Admitted) : yield* userDisabled
    }
    const isKey = (yield* orUnavailable(keys.find(secret))) !== undefined
    return yield* unauthorized(
      isKey
        ? "This is the API key, which opens /v1: use the system access token here"
        : `This system access token is not known: ${WHENCE}, GET /api/user/token ends it and makes another`
    )
  })

  /** By a session of the page; undefined where it is none. One that a key opened is as good as the key. */
  const bySession = Effect.fn("Admission.bySession")(function* (token: string) {
    const session = yield* orUnavailable(accounts.session(token))
    if (session === undefined) return undefined
    if (session.token_id === null) {
      const user = yield* orUnavailable(users.get(session.user_id))
      if (user?.status !== 1) return yield* userDisabled
      return { user, key: undefined } satisfies Admitted
    }
    const key = yield* orUnavailable(keys.byId(session.token_id))
    return key === undefined ? undefined : yield* holderOf(key)
  })

  return { byKey, byToken, bySession }
})

/** Lets those pass who may see the documents. */
export const mayReadDocuments = (admitted: Admitted): Effect.Effect<Admitted, Failure> =>
  admitted.key?.documents === 0 ? Effect.fail(documentsRefused) : Effect.succeed(admitted)
