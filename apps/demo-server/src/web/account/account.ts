/** The signed-in user's balance, keys, usage and system access token. */
import { effect, signal, untracked } from "@preact/signals"
import type { UserRecord } from "@sluice/core/contract"
import type { DayUsage } from "../../contract/Usage.ts"
import * as Api from "../api/account.ts"
import { online, type RequestError } from "../api/request.ts"
import { loadCurrent, tryRequest } from "../page/calls.ts"
import { makePagedList } from "../page/PagedList.tsx"
import { currentRoute } from "../page/route.ts"
import { session } from "../page/session.ts"
import { announce } from "../ui/Notices.tsx"

export const account = signal<typeof UserRecord.Encoded | undefined>(undefined)
export const accountError = signal<RequestError | undefined>(undefined)

export const keys = makePagedList(Api.listKeys)
/** A new key. It is shown once and forgotten when the view closes. */
export const newKey = signal<Api.KeyDetails | undefined>(undefined)
export const keyError = signal<RequestError | undefined>(undefined)

const refreshAccount = (): Promise<boolean> =>
  tryRequest(accountError, async () => {
    const [now] = await Promise.all([Api.getUser(), keys.refresh()])
    account.value = now
  })

/** Resolves to whether the key was created. */
export const makeKey = (wanted: Api.KeyRequest): Promise<boolean> =>
  tryRequest(keyError, async () => {
    newKey.value = await Api.createKey(wanted)
    announce(`The key ${wanted.name} was created. Copy it now: it is shown once.`)
    void refreshAccount()
  })

/** Changes the list before the server responds, and changes it back if the server refuses. */
const changeKeys = async (
  change: (keys: ReadonlyArray<Api.KeyDetails>) => ReadonlyArray<Api.KeyDetails>,
  send: () => Promise<void>,
  message: string
): Promise<void> => {
  const before = keys.rows.value
  keys.rows.value = change(before ?? [])
  const done = await tryRequest(keyError, send)
  if (done) return announce(message)
  keys.rows.value = before
  // Another program may have changed the list.
  void refreshAccount()
}

export const toggleKey = ({ id, name, status }: Api.KeyDetails): Promise<void> => {
  const next = status === 1 ? 0 : 1
  return changeKeys(
    (all) => all.map((key) => (key.id === id ? { ...key, status: next } : key)),
    () => Api.setKeyStatus(id, next),
    `${name} is ${next === 1 ? "enabled" : "disabled"}.`
  )
}

export const removeKey = ({ id, name }: Api.KeyDetails): Promise<void> => {
  if (newKey.value?.id === id) newKey.value = undefined
  return changeKeys(
    (all) => all.filter((key) => key.id !== id),
    () => Api.deleteKey(id),
    `${name} was deleted.`
  )
}

/** A new system access token, shown once. */
export const newToken = signal<string | undefined>(undefined)
export const tokenError = signal<RequestError | undefined>(undefined)

export const renewToken = (): Promise<boolean> =>
  tryRequest(tokenError, async () => {
    newToken.value = await Api.renewAccessToken()
    announce("The new system access token was created. Copy it now: it is shown once.")
  })

/** Days of usage that can be shown, today included. */
export const SPANS = [7, 30, 90, 365] as const
export const usageDays = signal<number>(30)
export const usage = signal<ReadonlyArray<DayUsage> | undefined>(undefined)
export const usageError = signal<RequestError | undefined>(undefined)

const refreshUsage = () => loadCurrent(usageDays, Api.getUsage, (rows) => (usage.value = rows), usageError)

export const chooseUsageDays = (days: number): void => {
  usageDays.value = days
  void refreshUsage()
}

effect(() => {
  if (currentRoute.value.view !== "account") {
    newKey.value = undefined
    newToken.value = undefined
    keyError.value = undefined
  } else if (session.value === "open" && online.value)
    untracked(() => void Promise.all([refreshAccount(), refreshUsage()]))
})
