/** Users and the audit log, for administrators. */
import { effect, signal, untracked } from "@preact/signals"
import * as Api from "../api/account.ts"
import { online, type RequestError } from "../api/request.ts"
import { tryRequest } from "../page/calls.ts"
import { makePagedList } from "../page/PagedList.tsx"
import { currentRoute } from "../page/route.ts"
import { session } from "../page/session.ts"
import { announce } from "../ui/Notices.tsx"

export const users = makePagedList(Api.listUsers)
export const auditLog = makePagedList(Api.listAuditLog)

/** A user's new system access token, shown once. */
export const newUserToken = signal<{ readonly username: string; readonly token: string } | undefined>(
  undefined
)

export const userError = signal<RequestError | undefined>(undefined)

const refresh = (): Promise<unknown> => Promise.all([users.refresh(), auditLog.refresh()])

/** Resolves to whether it succeeded. `send` returns the announcement. */
const change = async (send: () => Promise<string>): Promise<boolean> => {
  const done = await tryRequest(userError, async () => announce(await send()))
  void refresh()
  return done
}

export const addUser = (wanted: Api.UserRequest): Promise<boolean> =>
  change(async () => {
    const { access_token: token, username } = await Api.createUser(wanted)
    newUserToken.value = { username, token }
    return `The user ${username} was created. Copy their token now: it is shown once.`
  })

export const changeUser = (wanted: Api.UserChange, announcement: string): Promise<boolean> =>
  change(async () => {
    await Api.updateUser(wanted)
    return announcement
  })

export const replaceUserToken = ({ id, username }: Api.UserDetails): Promise<boolean> =>
  change(async () => {
    newUserToken.value = { username, token: await Api.renewUserToken(id) }
    return `A new token for ${username} was created. Copy it now: it is shown once.`
  })

effect(() => {
  if (currentRoute.value.view !== "administration") {
    newUserToken.value = undefined
    userError.value = undefined
  } else if (session.value === "open" && online.value) untracked(() => void refresh())
})
