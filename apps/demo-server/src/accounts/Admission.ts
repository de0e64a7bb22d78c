/** Whether a credential opens the door at which it was shown, and what is said where it does not. */
import { Failure } from "@sluice/core"
import { Clock, Effect, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { ApiKeys, type KeyRow } from "./ApiKeys.ts"
import { OWNER } from "./Owner.ts"
import { orUnavailable } from "./StoreFailure.ts"
import { parseSubnet } from "./Subnet.ts"
import { Users } from "./Users.ts"

const unauthorized = (message: string) =>
  new Failure({ status: 401, message, code: "invalid_api_key", retryable: false })

/** Says neither which addresses may pass nor which one asked. */
const addressRefused = new Failure({
  status: 403,
  message: "This API key may not be used from this address: its `subnet` says from where it may",
  code: "address_not_allowed",
  retryable: false
})

const notTheOwner = new Failure({
  status: 403,
  message: "The documents belong to the owner of the server: a key of that user opens them",
  code: "not_the_owner",
  retryable: false
})

/** The address at the other end of the connection. What a header says of it anybody can write. */
const remoteAddress = Effect.map(HttpServerRequest.HttpServerRequest, (request) =>
  Option.getOrElse(request.remoteAddress, () => "")
)

/** Told to who holds the key: it is real. */
const refusalOf = (key: KeyRow, now: number, address: string): Failure | undefined => {
  if (key.status !== 1) return unauthorized("This API key is disabled: enable it by PUT /api/token/")
  if (key.expires_at !== null && key.expires_at <= now) {
    return unauthorized("This API key has expired: set its expired_time by PUT /api/token/, or use another")
  }
  // A list that cannot be read lets nobody pass.
  return parseSubnet(key.subnet)?.(address) === true ? undefined : addressRefused
}

const WHENCE = "the first was printed when the server first started on its data folder"

/** The doors, each with the credential that opens it; what is wrong is told without repeating any of it. */
export const makeAdmission = Effect.gen(function* () {
  const keys = yield* ApiKeys
  const users = yield* Users

  /** The key, when it may be used now and from here. */
  const byKey = Effect.fn("Admission.byKey")(function* (secret: string) {
    if (secret === "") {
      return yield* unauthorized("No credential: send the API key as `Authorization: Bearer …`")
    }
    const key = yield* orUnavailable(keys.find(secret))
    if (key === undefined) {
      const isToken = (yield* orUnavailable(users.bySystemToken(secret))) !== undefined
      return yield* unauthorized(
        isToken
          ? "This is the system access token, which opens /api: use the API key here"
          : `This API key is not known: ${WHENCE}, POST /api/token/ makes more`
      )
    }
    const refusal = refusalOf(key, yield* Clock.currentTimeMillis, yield* remoteAddress)
    return refusal === undefined ? key : yield* refusal
  })

  /** As `byKey`, for what belongs to the owner of the data folder. */
  const byOwnersKey = Effect.fn("Admission.byOwnersKey")(function* (secret: string) {
    const key = yield* byKey(secret)
    return key.user_id === OWNER ? key : yield* notTheOwner
  })

  /** The user whose system access token it is. */
  const byToken = Effect.fn("Admission.byToken")(function* (secret: string) {
    if (secret === "") {
      return yield* unauthorized("No credential: send the system access token as `Authorization: Bearer …`")
    }
    const user = yield* orUnavailable(users.bySystemToken(secret))
    if (user !== undefined) return user
    const isKey = (yield* orUnavailable(keys.find(secret))) !== undefined
    return yield* unauthorized(
      isKey
        ? "This is the API key, which opens /v1: use the system access token here"
        : `This system access token is not known: ${WHENCE}, GET /api/user/token ends it and makes another`
    )
  })

  return { byKey, byOwnersKey, byToken }
})
