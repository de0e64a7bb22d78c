/** What the requests about keys may say: read into what is kept, or refused with the field's name. */
import type { Expiry } from "@sluice/core"
import { Failure, type TokenCreateRequest, type TokenUpdateRequest } from "@sluice/core/contract"
import { Clock, DateTime, Effect } from "effect"
import type { KeyFields } from "./ApiKeys.ts"
import { LARGEST_LIMIT, type limitColumns } from "./KeyLimits.ts"
import { parseSubnet } from "../network/IpAddress.ts"

/** Characters of a name, and of a keyword, at most. */
const NAME = 100

/** Characters of a list of networks at most. */
const SUBNET = 2_000

/** Tokens of a page when nothing else is asked for, and at most. */
const PAGE = 10
const LARGEST_PAGE = 100

/** Tokens that a search finds at most. */
export const SEARCHED = 100

/** Fields of a token that are answered and cannot be changed: a token that was read may be sent back whole. */
const READ_ONLY = ["key", "created_time"]

/** Fields of ours beside the interface's: what a key may use, and how much of it in a minute. */
const PERMISSIONS = ["models", "documents", "requests_per_minute", "tokens_per_minute"]

/** In place of a limit: none. */
export const NO_LIMIT = 0

/** In place of a list of models: all of them. */
export const EVERY_MODEL = "*"

/** Models of a list at most. */
const MODELS = 200

const refused = (param: string, message: string) =>
  new Failure({ status: 400, message, param, code: "invalid_value", retryable: false })

/** A field that is not understood might have been a limit. */
export const nothingElse = (
  extra: Readonly<Record<string, unknown>> | undefined,
  but: ReadonlyArray<string> = []
) => {
  const field = Object.keys(extra ?? {}).find((name) => !but.includes(name))
  return field === undefined
    ? Effect.void
    : Effect.fail(
        refused(field.slice(0, NAME), `\`${field.slice(0, NAME)}\` is not known here: leave it out`)
      )
}

export const nameOf = (name: string, param = "name") =>
  name.length === 0 || name.length > NAME || /\p{Cc}/u.test(name) || !name.isWellFormed()
    ? Effect.fail(refused(param, `\`${param}\` is 1 to ${NAME} characters, none of them a control character`))
    : Effect.succeed(name)

const expiryOf = (expiry: Expiry) =>
  expiry._tag === "Unknown"
    ? Effect.fail(
        refused("expired_time", "`expired_time` is seconds since 1970, up to the year 9999, or -1 for never")
      )
    : Effect.succeed(expiry._tag === "Never" ? null : DateTime.toEpochMillis(expiry.at))

export const unitsOf = (units: number, param: string) =>
  units < 0
    ? Effect.fail(refused(param, `\`${param}\` is a number of quota units, not below 0`))
    : Effect.succeed<number>(units)

const subnetOf = (subnet: string) =>
  subnet.length > SUBNET || parseSubnet(subnet) === undefined
    ? Effect.fail(
        refused(
          "subnet",
          "`subnet` is a list of networks, separated by commas, such as `10.0.0.0/8,2001:db8::/32`; empty: every address"
        )
      )
    : Effect.succeed(subnet)

export const statusOf = (status: number) =>
  status === 0 || status === 1
    ? Effect.succeed<KeyFields["status"]>(status)
    : Effect.fail(refused("status", "`status` is 1, enabled, or 0, disabled"))

const isModels = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) &&
  value.length <= MODELS &&
  value.every((model) => typeof model === "string" && model !== "" && model.length <= NAME * 3)

/** Limits of a minute that are given; nothing for what is not said. */
export const limitsGiven = (given: Readonly<Record<string, unknown>> = {}) =>
  Effect.gen(function* () {
    const limits: { -readonly [Column in keyof typeof limitColumns]?: number | null } = {}
    for (const name of ["requests_per_minute", "tokens_per_minute"] as const) {
      const limit = given[name]
      if (limit === undefined || limit === null) continue
      if (typeof limit !== "number" || !Number.isInteger(limit) || limit < 0 || limit > LARGEST_LIMIT) {
        return yield* refused(
          name,
          `\`${name}\` is a whole number from 1, or ${NO_LIMIT} for no limit of its own`
        )
      }
      limits[name] = limit === NO_LIMIT ? null : limit
    }
    return limits
  })

/** What the key may use: a list of models, of which `*` is all; whether the documents. Nothing for what is not said. */
const permissionsOf = Effect.fn("AccountRequests.permissions")(function* (
  extra: Readonly<Record<string, unknown>> = {}
) {
  const { documents, models } = extra
  const given: { models?: ReadonlyArray<string> | null; documents?: 0 | 1 } = {}
  if (models !== undefined && models !== null) {
    if (!isModels(models)) {
      return yield* refused(
        "models",
        `\`models\` is a list of model identifiers, at most ${MODELS}; ["${EVERY_MODEL}"] is all of them`
      )
    }
    given.models = models.includes(EVERY_MODEL) ? null : models
  }
  if (documents !== undefined && documents !== null) {
    if (typeof documents !== "boolean") {
      return yield* refused("documents", "`documents` is true or false: whether the key opens the documents")
    }
    given.documents = documents ? 1 : 0
  }
  return { ...given, ...(yield* limitsGiven(extra)) }
})

/** A key to be made. */
export const newKeyOf = Effect.fn("AccountRequests.newKey")(function* (request: TokenCreateRequest) {
  yield* nothingElse(request.extra, PERMISSIONS)
  const expires_at = yield* expiryOf(request.expired_time)
  if (expires_at !== null && expires_at <= (yield* Clock.currentTimeMillis)) {
    return yield* refused(
      "expired_time",
      "`expired_time` is over already: give a time to come, or -1 for never"
    )
  }
  return {
    name: yield* nameOf(request.name),
    status: 1,
    expires_at,
    remain_quota: yield* unitsOf(request.remain_quota, "remain_quota"),
    subnet: yield* subnetOf(request.subnet ?? ""),
    ...(yield* permissionsOf(request.extra))
  } satisfies KeyFields
})

const isAbsent = (expiry: Expiry | undefined): expiry is undefined =>
  expiry === undefined || (expiry._tag === "Unknown" && expiry.raw === null)

/** The fields of a key that are to change: those that are given. */
export const changesOf = Effect.fn("AccountRequests.changes")(function* (request: TokenUpdateRequest) {
  yield* nothingElse(request.extra, [...READ_ONLY, ...PERMISSIONS])
  const { name, expired_time, remain_quota, status, subnet } = request
  return {
    ...(name !== undefined && { name: yield* nameOf(name) }),
    ...(!isAbsent(expired_time) && { expires_at: yield* expiryOf(expired_time) }),
    ...(remain_quota !== undefined && { remain_quota: yield* unitsOf(remain_quota, "remain_quota") }),
    ...(status !== undefined && { status: yield* statusOf(status) }),
    ...(subnet !== undefined && { subnet: yield* subnetOf(subnet) }),
    ...(yield* permissionsOf(request.extra))
  } satisfies Partial<KeyFields>
})

/** Which part of the list: pages of `num` (or `size`), `p` counted from 0. */
export const pageOf = Effect.fn("AccountRequests.page")(function* (query: {
  readonly num?: number
  readonly size?: number
  readonly p?: number
}) {
  const size = query.num ?? query.size ?? PAGE
  if (size < 1 || size > LARGEST_PAGE) {
    return yield* refused("num", `\`num\` is the size of a page: 1 to ${LARGEST_PAGE}`)
  }
  const skip = (query.p ?? 0) * size
  if (skip < 0 || !Number.isSafeInteger(skip)) {
    return yield* refused("p", "`p` is the number of a page, from 0")
  }
  return { size, skip }
})

/** A keyword: any text; none of it is a wildcard. */
export const searchedOf = (keyword: string) =>
  keyword.length > NAME || keyword.includes("\0")
    ? Effect.fail(refused("keyword", `\`keyword\` is at most ${NAME} characters of a token's name`))
    : Effect.succeed(keyword)
