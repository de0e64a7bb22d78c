/** Updates tokens: sends the whole record and checks the result, because gateways clear or ignore fields. */
import { Effect, Equal } from "effect"
import type { TokenRecord, TokenUpdateRequest } from "../../contract/Account.ts"
import type { TokenChanges } from "../../gateway/Account.ts"
import type { TokenCalls } from "./TokenCalls.ts"
import { couldHaveKey, fullKey, isSameExpiry, shownKey } from "./TokenRecords.ts"

/** All fields of the token, with the changes. The key, which may be masked, is not sent. */
const updateRequest = (before: TokenRecord, changes: TokenChanges): TokenUpdateRequest => ({
  id: before.id,
  name: changes.name ?? before.name,
  expired_time: changes.expires ?? before.expired_time,
  remain_quota: changes.remainQuota ?? before.remain_quota,
  status: changes.enabled === undefined ? before.status : Number(changes.enabled),
  subnet: changes.subnet ?? before.subnet,
  extra: { ...before.extra, ...changes.extra }
})

/**
 * The fields with a wrong value after an update.
 *
 * **Details.** The token may have been used or topped up meanwhile: its quota is wrong only if a requested change is
 * missing, or if all of it is gone. A field outside the interface may change by itself, but not be cleared.
 */
const updateFaults = (
  before: TokenRecord,
  after: TokenRecord,
  changes: TokenChanges
): ReadonlyArray<string> => {
  const wanted = updateRequest(before, changes)
  const faults = [
    after.name !== wanted.name && "name",
    !isSameExpiry(after.expired_time, wanted.expired_time) && "expired_time",
    !isQuota(before.remain_quota, after.remain_quota + spent(before, after), changes.remainQuota) &&
      "remain_quota",
    !isSameKey(before, after) && "key",
    changes.enabled !== undefined && (after.status === 1) !== changes.enabled && "status",
    (after.subnet ?? "") !== (wanted.subnet ?? "") && "subnet",
    ...Object.entries(wanted.extra ?? {}).map(([name, value]) => {
      const now = after.extra?.[name]
      const kept =
        changes.extra !== undefined && name in changes.extra
          ? Equal.equals(now, value)
          : !isEmpty(now) || isEmpty(value)
      return !kept && name
    })
  ]
  return faults.filter((fault) => fault !== false)
}

/** The quota spent between two reads, if the gateway counts it in `used_quota`. */
const spent = (before: TokenRecord, after: TokenRecord): number => {
  const [from, to] = [before.extra?.["used_quota"], after.extra?.["used_quota"]]
  return typeof from === "number" && typeof to === "number" ? Math.max(0, to - from) : 0
}

/**
 * Whether a quota is the requested one, allowing for use and top-ups meanwhile.
 *
 * A raised quota must differ from the old value. A lowered one must be nearer to the requested value than to the old.
 */
const isQuota = (before: number, after: number, wanted?: number): boolean => {
  if (wanted === undefined) return after !== 0 || before <= 0
  if (after === wanted || after < Math.min(wanted, before)) return true
  return wanted > before ? after !== before : after - wanted < before - after
}

/** Whether the record still shows the same key, full or masked. */
const isSameKey = (before: TokenRecord, after: TokenRecord): boolean => {
  const [was, is] = [shownKey(before), shownKey(after)]
  if (was === "" || was === is) return true
  const key = fullKey(was)
  return key !== undefined && fullKey(is) !== undefined && couldHaveKey(after, key)
}

const isEmpty = (value: unknown): boolean =>
  [undefined, null, "", 0, false].some((empty) => empty === value) ||
  (Array.isArray(value) && value.length === 0)

/** Updates a token and checks that the gateway stored it. */
export const updateToken = Effect.fnUntraced(function* (
  calls: TokenCalls,
  id: number,
  changes: TokenChanges
) {
  const read = calls.read(id, "update token")
  const before = yield* read
  if (updateFaults(before, before, changes).length === 0) return before
  const { extra, ...declared } = updateRequest(before, changes)
  const payload = { ...declared, ...(Object.keys(extra ?? {}).length > 0 && { extra }) }
  yield* calls.update(payload).pipe(
    // Some gateways return fields that they refuse in requests: retry without them.
    Effect.catchIf(
      ({ reason }) => reason._tag === "InvalidRequest" && "extra" in payload && changes.extra === undefined,
      () => calls.update(declared)
    )
  )
  let after = yield* read
  if (updateFaults(before, after, changes).includes("status")) {
    yield* calls.update(payload, { status_only: "true" })
    after = yield* read
  }
  const faults = updateFaults(before, after, changes)
  if (faults.length === 0) return after
  const message = `The gateway accepted the change of token ${id}, but these fields are wrong: ${faults.join(", ")}. Check the token before using its key.`
  return yield* calls.invalid("update token", message)
})
