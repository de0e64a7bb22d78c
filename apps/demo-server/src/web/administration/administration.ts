/** Users and the audit log, for administrators. */
import { effect, signal, untracked } from "@preact/signals"
import {
  createUser,
  listAuditLog,
  listUsers,
  renewUserToken,
  updateUser,
  type UserChange,
  type UserDetails,
  type UserRequest
} from "../api/account.ts"
import type { RequestError } from "../api/RequestError.ts"
import { online } from "../api/request.ts"
import { attempt } from "../page/calls.ts"
import { makePagedList } from "../page/pagedList.ts"
import { route } from "../page/route.ts"
import { session } from "../page/session.ts"
import { announce } from "../ui/announce.ts"

export const users = makePagedList(listUsers)
export const auditLog = makePagedList(listAuditLog)

/** A user's new system access token, shown once. */
export const newUserToken = signal<{ readonly username: string; readonly token: string } | undefined>(
  undefined
)

export const userError = signal<RequestError | undefined>(undefined)

const refresh = (): Promise<unknown> => Promise.all([users.refresh(), auditLog.refresh()])

/** Resolves to whether it succeeded. `send` returns the announcement. */
const change = async (send: () => Promise<string>): Promise<boolean> => {
  const done = await attempt(userError, async () => announce(await send()))
  void refresh()
  return done
}

export const addUser = (wanted: UserRequest): Promise<boolean> =>
  change(async () => {
    const { access_token: token, username } = await createUser(wanted)
    newUserToken.value = { username, token }
    return `The user ${username} was created. Copy their token now: it is shown once.`
  })

export const changeUser = (wanted: UserChange, announcement: string): Promise<boolean> =>
  change(async () => {
    await updateUser(wanted)
    return announcement
  })

export const replaceUserToken = ({ id, username }: UserDetails): Promise<boolean> =>
  change(async () => {
    newUserToken.value = { username, token: await renewUserToken(id) }
    return `A new token for ${username} was created. Copy it now: it is shown once.`
  })

effect(() => {
  if (route.value.view !== "administration") {
    newUserToken.value = undefined
    userError.value = undefined
  } else if (session.value === "open" && online.value) untracked(() => void refresh())
})
