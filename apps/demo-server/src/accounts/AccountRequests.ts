/** Parses account requests into rows. Errors name the invalid field. */
import { type Expiry, Failure, type TokenCreateRequest, type TokenUpdateRequest } from "@sluice/core/contract"
import { Clock, DateTime, Effect, Schema } from "effect"
import { DocumentsPermission } from "../contract/Access.ts"
import type { KeyFields } from "./ApiKeys.ts"
import { LARGEST_LIMIT, type limitColumns } from "./KeyLimits.ts"
import { parseSubnet } from "../network/IpAddress.ts"

/** Characters of a name or keyword at most. */
const MAX_NAME = 100

/** Characters of a list of networks at most. */
const MAX_SUBNET = 2_000

/** Tokens per page by default, and at most: larger pages are cut. */
const PAGE_SIZE = 10
const MAX_PAGE_SIZE = 1_000

/** Tokens that a search returns at most. */
export const SEARCH_LIMIT = 100

/** Response fields that requests may repeat, so that a token can be sent back as it was read. */
const READ_ONLY = ["key", "created_time"]

/** Fields that are not in the gateway interface: permissions and rate limits. */
const PERMISSIONS = ["models", "documents", "requests_per_minute", "tokens_per_minute", "unlimited_quota"]

/** As a limit: no limit. */
export const NO_LIMIT = 0

/** In a list of models: all models. */
export const EVERY_MODEL = "*"

/** Models in a list at most. */
const MAX_MODELS = 200

const invalid = (param: string, message: string) =>
  new Failure({ status: 400, message, param, code: "invalid_value" })

/** The value of a field, if it is valid. */
const requireValid = <A>(isValid: boolean, value: A, param: string, message: string) =>
  isValid ? Effect.succeed(value) : Effect.fail(invalid(param, message))

/** Rejects unknown fields: a misspelt limit must not be ignored. */
export const rejectUnknown = (
  extra: Readonly<Record<string, unknown>> | undefined,
  except: ReadonlyArray<string> = []
) => {
  const field = Object.keys(extra ?? {}).find((name) => !except.includes(name))
  const shown = (field ?? "").slice(0, MAX_NAME)
  return requireValid(field === undefined, undefined, shown, `Unknown field \`${shown}\`: leave it out`)
}

export const parseName = (name: string, param = "name") =>
  requireValid(
    name.length > 0 && name.length <= MAX_NAME && !/\p{Cc}/u.test(name) && name.isWellFormed(),
    name,
    param,
    `\`${param}\` must have 1 to ${MAX_NAME} characters, without control characters`
  )

const parseExpiry = (expiry: Expiry) =>
  requireValid(
    expiry._tag !== "Unknown",
    expiry._tag === "At" ? DateTime.toEpochMillis(expiry.at) : null,
    "expired_time",
    "`expired_time` must be seconds since 1970, up to the year 9999, or -1 for never"
  )

export const parseUnits = (units: number, param: string) =>
  requireValid(units >= 0, units, param, `\`${param}\` must be a number of quota units, 0 or more`)

const parseSubnetField = (subnet: string) =>
  requireValid(
    subnet.length <= MAX_SUBNET && parseSubnet(subnet) !== undefined,
    subnet,
    "subnet",
    "`subnet` must be a list of networks, separated by commas, such as `10.0.0.0/8,2001:db8::/32`. Leave empty to allow all"
  )

export const parseStatus = (status: number) =>
  requireValid(
    status === 0 || status === 1,
    status as KeyFields["status"],
    "status",
    "`status` must be 1 (enabled) or 0 (disabled)"
  )

const isModelList = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) &&
  value.length <= MAX_MODELS &&
  value.every((model) => typeof model === "string" && model !== "" && model.length <= MAX_NAME * 3)

/** The given rate limits. Omitted ones are left out. */
export const parseLimits = (given: Readonly<Record<string, unknown>> = {}) =>
  Effect.gen(function* () {
    const limits: { -readonly [Column in keyof typeof limitColumns]?: number | null } = {}
    for (const name of ["requests_per_minute", "tokens_per_minute"] as const) {
      const limit = given[name]
      if (limit === undefined || limit === null) continue
      if (typeof limit !== "number" || !Number.isInteger(limit) || limit < 0 || limit > LARGEST_LIMIT) {
        const message = `\`${name}\` must be a whole number from 1, or ${NO_LIMIT} for no limit of its own`
        return yield* invalid(name, message)
      }
      limits[name] = limit === NO_LIMIT ? null : limit
    }
    return limits
  })

/** The given permissions and rate limits: a list of models, `*` for all, and access to the documents. */
const parsePermissions = Effect.fn("AccountRequests.permissions")(function* (
  extra: Readonly<Record<string, unknown>> = {}
) {
  // Earlier versions had true and false.
  const given = extra["documents"] ?? undefined
  const documents = given === true ? "write" : given === false ? "none" : given
  const models = extra["models"] ?? undefined
  if (models !== undefined && !isModelList(models)) {
    const message = `\`models\` must be a list of at most ${MAX_MODELS} model identifiers. ["${EVERY_MODEL}"] allows all`
    return yield* invalid("models", message)
  }
  if (documents !== undefined && !Schema.is(DocumentsPermission)(documents)) {
    const message = "`documents` must be `none`, `read` or `write`: what the key may do with the documents"
    return yield* invalid("documents", message)
  }
  return {
    ...(models !== undefined && { models: models.includes(EVERY_MODEL) ? null : models }),
    ...(documents !== undefined && { documents }),
    ...(yield* parseLimits(extra))
  }
})

/** The quota of a key. `unlimited_quota: true`, of other gateways, leaves the limit to the user's balance. */
const parseQuota = <Q extends number | undefined>(
  quota: Q,
  { unlimited_quota: unlimited }: Readonly<Record<string, unknown>> = {}
): Effect.Effect<Q | number, Failure> => {
  if (typeof (unlimited ?? false) !== "boolean") {
    return Effect.fail(invalid("unlimited_quota", "`unlimited_quota` must be true or false"))
  }
  const units = unlimited === true ? Number.MAX_SAFE_INTEGER : quota
  return units === undefined ? Effect.succeed(quota) : parseUnits(units, "remain_quota")
}

export const parseNewKey = Effect.fn("AccountRequests.newKey")(function* (request: TokenCreateRequest) {
  yield* rejectUnknown(request.extra, PERMISSIONS)
  const expires_at = yield* parseExpiry(request.expired_time)
  if (expires_at !== null && expires_at <= (yield* Clock.currentTimeMillis)) {
    return yield* invalid("expired_time", "`expired_time` is in the past. Use a future time, or -1 for never")
  }
  return {
    name: yield* parseName(request.name),
    status: 1,
    expires_at,
    remain_quota: yield* parseQuota(request.remain_quota, request.extra),
    subnet: yield* parseSubnetField(request.subnet ?? ""),
    ...(yield* parsePermissions(request.extra))
  } satisfies KeyFields
})

const isAbsent = (expiry: Expiry | undefined): expiry is undefined =>
  expiry === undefined || (expiry._tag === "Unknown" && expiry.raw === null)

/** The given fields only. */
export const parseKeyChanges = Effect.fn("AccountRequests.changes")(function* (request: TokenUpdateRequest) {
  yield* rejectUnknown(request.extra, [...READ_ONLY, ...PERMISSIONS])
  const { name, expired_time, status, subnet } = request
  if (request.extra?.["unlimited_quota"] === false && request.remain_quota === undefined) {
    return yield* invalid("remain_quota", "With `unlimited_quota: false`, give `remain_quota`")
  }
  const remain_quota = yield* parseQuota(request.remain_quota, request.extra)
  return {
    ...(name !== undefined && { name: yield* parseName(name) }),
    ...(!isAbsent(expired_time) && { expires_at: yield* parseExpiry(expired_time) }),
    ...(remain_quota !== undefined && { remain_quota }),
    ...(status !== undefined && { status: yield* parseStatus(status) }),
    ...(subnet !== undefined && { subnet: yield* parseSubnetField(subnet) }),
    ...(yield* parsePermissions(request.extra))
  } satisfies Partial<KeyFields>
})

/** The part of a list to return: page `p`, from 0, of `num` (or `size`) entries. */
export const parsePage = Effect.fn("AccountRequests.page")(function* (query: {
  readonly num?: number
  readonly size?: number
  readonly p?: number
}) {
  const size = Math.min(query.num ?? query.size ?? PAGE_SIZE, MAX_PAGE_SIZE)
  if (size < 1) return yield* invalid("num", "`num`, the size of a page, must be 1 or more")
  const skip = (query.p ?? 0) * size
  if (skip < 0 || !Number.isSafeInteger(skip)) {
    return yield* invalid("p", "`p`, the number of a page, must be 0 or more")
  }
  return { size, skip }
})

/** A keyword is plain text without wildcards. PostgreSQL rejects NUL in text. */
export const parseKeyword = (keyword: string) =>
  requireValid(
    keyword.length <= MAX_NAME && !keyword.includes("\0"),
    keyword,
    "keyword",
    `\`keyword\` must have at most ${MAX_NAME} characters`
  )
