/** Users and the audit log, for administrators. */
import { effect, signal, untracked } from "@preact/signals"
import * as Api from "../api/account.ts"
import { online, type RequestError } from "../api/request.ts"
import { sendChange } from "../page/calls.ts"
import { makePagedList } from "../page/PagedList.tsx"
import { currentRoute } from "../page/route.ts"
import { session } from "../page/session.ts"
import type { Secret } from "../ui/Button.tsx"

export const users = makePagedList(Api.listUsers)
export const auditLog = makePagedList(Api.listAuditLog)

/** A user's new system access token, shown once. */
export const newUserToken = signal<Secret>()
export const userError = signal<RequestError>()

const refresh = (): Promise<unknown> => Promise.all([users.refresh(), auditLog.refresh()])

const change = (send: () => Promise<string>): Promise<boolean> => sendChange(refresh, userError, send)

const showToken = (username: string, secret: string): void => {
  newUserToken.value = { name: `System access token of ${username}`, secret, what: "the token" }
}

export const addUser = (request: Api.UserRequest): Promise<boolean> =>
  change(async () => {
    const { access_token, username } = await Api.createUser(request)
    showToken(username, access_token)
    return `The user ${username} was created. Copy their token now: it is shown once.`
  })

export const changeUser = (request: Api.UserChange, message: string): Promise<boolean> =>
  change(async () => {
    await Api.updateUser(request)
    return message
  })

export const replaceUserToken = ({ id, username }: Api.UserDetails): Promise<boolean> =>
  change(async () => {
    showToken(username, await Api.renewUserToken(id))
    return `A new token for ${username} was created. Copy it now: it is shown once.`
  })

effect(() => {
  if (currentRoute.value.view !== "administration") {
    newUserToken.value = undefined
    userError.value = undefined
  } else if (session.value === "open" && online.value) untracked(() => void refresh())
})
