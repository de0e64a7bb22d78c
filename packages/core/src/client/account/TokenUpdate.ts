/** A token's change as a whole record, and whether it took effect: gateways empty or ignore fields. */
import { Equal, Redacted, Schema } from "effect"
import type { TokenChanges } from "../../gateway/Account.ts"
import { Expiry, type TokenRecord, type TokenUpdateRequest } from "../../contract/Account.ts"
import { keyIn, mayHave } from "./TokenCreation.ts"

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
 * **Details.** The token may have been used meanwhile, or more been given to it: its quota is at fault only where a change
 * that was asked for did not come, or where all of it is gone. A field that the interface does not name may change by
 * itself, but not be emptied.
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
    !isQuota(before.remain_quota, after.remain_quota + spent(before, after), changes.remainQuota) &&
      "remain_quota",
    !isSameKey(before, after) && "key",
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

/** What the token has spent between two readings, where the gateway counts it: `used_quota`. */
const spent = (before: TokenRecord, after: TokenRecord): number => {
  const [from, to] = [before.extra?.["used_quota"], after.extra?.["used_quota"]]
  return typeof from === "number" && typeof to === "number" ? Math.max(0, to - from) : 0
}

/**
 * Whether a quota is the one asked for, whatever was spent or added meanwhile.
 *
 * One that was raised is not believed where it is what it was. A limit that was lowered is to hold: it is not believed
 * where it is nearer to what it was.
 */
const isQuota = (before: number, after: number, asked?: number): boolean => {
  if (asked === undefined) return after !== 0 || before <= 0
  if (after === asked || after < Math.min(asked, before)) return true
  return asked > before ? after !== before : after - asked < before - after
}

/** The key that was shown, whole or masked, is shown still. */
const isSameKey = (before: TokenRecord, after: TokenRecord): boolean => {
  const [was, is] = [before, after].map(({ key }) => (key === undefined ? "" : Redacted.value(key)))
  if (was === undefined || was === "" || was === is) return true
  const whole = keyIn(was)
  return whole !== undefined && keyIn(is) !== undefined && mayHave(after, whole)
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === "" ||
  value === 0 ||
  value === false ||
  (Array.isArray(value) && value.length === 0)
