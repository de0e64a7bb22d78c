/** A token's change as a whole record, and whether it took effect: gateways empty or ignore fields. */
import { Equal, Schema } from "effect"
import type { TokenChanges } from "../Account.ts"
import { Expiry, type TokenRecord, type TokenUpdateRequest } from "../endpoints/Account.ts"

/** Every field that the token has, with the changes in place. Its key, which may be masked, is not sent. */
export const updateOf = (before: TokenRecord, changes: TokenChanges): TokenUpdateRequest => ({
  id: before.id,
  name: changes.name ?? before.name,
  expired_time: changes.expires ?? before.expired_time,
  remain_quota: changes.remainQuota ?? before.remain_quota,
  status: changes.enabled === undefined ? before.status : Number(changes.enabled),
  subnet: changes.subnet ?? before.subnet,
  extra: { ...before.extra, ...changes.extra }
})

/**
 * The fields that are not as they should be after an update; none when it took effect.
 *
 * **Details.** The token may have been used meanwhile: its quota may be less than it should be, but not more, and where
 * it was raised not what it was. A field that the interface does not name may change by itself, but not be emptied.
 */
export const faultsOf = (
  before: TokenRecord,
  after: TokenRecord,
  changes: TokenChanges
): ReadonlyArray<string> => {
  const asked = updateOf(before, changes)
  const enabled = asked.status === 1
  const faults = [
    after.name !== asked.name && "name",
    secondsOf(after) !== secondsOf(asked) && "expired_time",
    !isQuota(before.remain_quota, after.remain_quota, changes.remainQuota) && "remain_quota",
    changes.enabled !== undefined && (after.status === 1) !== enabled && STATUS,
    (after.subnet ?? "") !== (asked.subnet ?? "") && "subnet",
    ...Object.entries(asked.extra ?? {}).map(([name, value]) => {
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

/** How a status that did not change is named. */
export const STATUS = "status"

const encodeExpiry = Schema.encodeSync(Expiry)
const secondsOf = ({ expired_time }: { readonly expired_time?: Expiry }) =>
  JSON.stringify(expired_time && encodeExpiry(expired_time))

const isQuota = (before: number, after: number, asked = before) =>
  after <= asked && (asked <= before || after > before)

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === "" ||
  value === 0 ||
  value === false ||
  (Array.isArray(value) && value.length === 0)
