/** The signed-in user's balance, keys, usage and system access token. */
import { signal } from "@preact/signals"
import type { TokenCreateRequest, TokenRecord, UserRecord } from "@sluice/core/contract"
import type { DayUsage } from "../../contract/Administration.ts"
import { requestData, type RequestError } from "../api/request.ts"
import { loadCurrent, makeChanges, tryRequest } from "../page/calls.ts"
import { makePagedList } from "../page/PagedList.tsx"
import { whileShown } from "../page/session.ts"
import type { Limits } from "../ui/ActionForm.tsx"

/** `expired_time` is in seconds since 1970; -1: never. */
type Expiring = { readonly expired_time: number }

export type KeyDetails = typeof TokenRecord.Encoded &
  Expiring &
  Partial<Limits> & { readonly documents?: string }
type KeyRequest = typeof TokenCreateRequest.Encoded & Expiring & Limits & { readonly documents: string }

const KEYS = "/api/token/"

export const account = signal<typeof UserRecord.Encoded>()
export const accountError = signal<RequestError>()
export const keys = makePagedList<KeyDetails>(KEYS)

const refreshAccount = (): Promise<boolean> =>
  tryRequest(accountError, async () => {
    const user = requestData<typeof UserRecord.Encoded>("GET", "/api/user/self")
    account.value = (await Promise.all([user, keys.refresh()]))[0]
  })

export const keyChanges = makeChanges(refreshAccount)
export const tokenChanges = makeChanges(refreshAccount)

export const makeKey = (body: KeyRequest): Promise<boolean> =>
  keyChanges.send(async () => {
    const { id, key, name } = await requestData<KeyDetails>("POST", KEYS, body)
    keyChanges.secret.value = { id, name, secret: key ?? "", what: "the key" }
    return `The key ${name} was created. Copy it now: it is shown once.`
  })

export const toggleKey = ({ id, name, status }: KeyDetails): Promise<boolean> =>
  keyChanges.sendRequest(
    `${name} is ${status === 1 ? "disabled" : "enabled"}.`,
    "PUT",
    `${KEYS}?status_only=true`,
    { id, status: status === 1 ? 0 : 1 }
  )

export const removeKey = ({ id, name }: KeyDetails): Promise<boolean> => {
  if (keyChanges.secret.value?.id === id) keyChanges.secret.value = undefined
  return keyChanges.sendRequest(`${name} was deleted.`, "DELETE", `${KEYS}${id}`)
}

/** Creates a system access token, which revokes the one before. */
export const renewToken = (): Promise<boolean> =>
  tokenChanges.send(async () => {
    const secret = await requestData<string>("POST", "/api/user/token")
    tokenChanges.secret.value = { name: "New system access token", secret, what: "the token" }
    return "The new system access token was created. Copy it now: it is shown once."
  })

/** Days of usage that can be shown, today included. */
export const SPANS = ["7", "30", "90", "365"]
export const usageDays = signal(30)
export const usage = signal<ReadonlyArray<DayUsage>>()
export const usageError = signal<RequestError>()

const refreshUsage = () =>
  loadCurrent(
    usageDays,
    (days) => requestData<ReadonlyArray<DayUsage>>("GET", `/api/usage?days=${days}`),
    (rows) => (usage.value = rows),
    usageError
  )

export const chooseUsageDays = (days: number): void => {
  usageDays.value = days
  void refreshUsage()
}

whileShown(
  ["account"],
  () => Promise.all([refreshAccount(), refreshUsage()]),
  () => [keyChanges, tokenChanges].forEach(({ clear }) => clear())
)
