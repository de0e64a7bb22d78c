/** The signed-in user's balance, keys, usage and system access token. */
import { effect, signal, untracked } from "@preact/signals"
import type { UserRecord } from "@sluice/core/contract"
import type { DayUsage } from "../../contract/Usage.ts"
import * as Api from "../api/account.ts"
import { online, type RequestError } from "../api/request.ts"
import { loadCurrent, sendChange, tryRequest } from "../page/calls.ts"
import { makePagedList } from "../page/PagedList.tsx"
import { currentRoute } from "../page/route.ts"
import { session } from "../page/session.ts"
import type { Secret } from "../ui/Button.tsx"

export const account = signal<typeof UserRecord.Encoded>()
export const accountError = signal<RequestError>()

export const keys = makePagedList(Api.listKeys)
/** New secrets are shown once and forgotten when the view closes. */
export const newKey = signal<Secret>()
export const newToken = signal<Secret>()
export const keyError = signal<RequestError>()

const refreshAccount = (): Promise<boolean> =>
  tryRequest(accountError, async () => {
    const [now] = await Promise.all([Api.getUser(), keys.refresh()])
    account.value = now
  })

const changeKeys = (send: () => Promise<string>): Promise<boolean> =>
  sendChange(refreshAccount, keyError, send)

export const makeKey = (request: Api.KeyRequest): Promise<boolean> =>
  changeKeys(async () => {
    const { id, key, name } = await Api.createKey(request)
    newKey.value = { id, name, secret: key ?? "", what: "the key" }
    return `The key ${name} was created. Copy it now: it is shown once.`
  })

export const toggleKey = ({ id, name, status }: Api.KeyDetails): Promise<boolean> =>
  changeKeys(async () => {
    const next = status === 1 ? 0 : 1
    await Api.setKeyStatus(id, next)
    return `${name} is ${next === 1 ? "enabled" : "disabled"}.`
  })

export const removeKey = ({ id, name }: Api.KeyDetails): Promise<boolean> => {
  if (newKey.value?.id === id) newKey.value = undefined
  return changeKeys(async () => {
    await Api.deleteKey(id)
    return `${name} was deleted.`
  })
}

export const tokenError = signal<RequestError>()

export const renewToken = (): Promise<boolean> =>
  sendChange(refreshAccount, tokenError, async () => {
    newToken.value = {
      name: "New system access token",
      secret: await Api.renewAccessToken(),
      what: "the token"
    }
    return "The new system access token was created. Copy it now: it is shown once."
  })

/** Days of usage that can be shown, today included. */
export const SPANS = ["7", "30", "90", "365"]
export const usageDays = signal(30)
export const usage = signal<ReadonlyArray<DayUsage>>()
export const usageError = signal<RequestError>()

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
