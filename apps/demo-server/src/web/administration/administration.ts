/** Users and the audit log, for administrators. */
import type {
  AuditEntry,
  Invitation,
  NewUser,
  UserInfo,
  UserUpdateRequest
} from "../../contract/Administration.ts"
import { requestData } from "../api/request.ts"
import { makeChanges } from "../page/calls.ts"
import { makePagedList } from "../page/PagedList.tsx"
import { whileShown } from "../page/session.ts"
import type { Limits } from "../ui/ActionForm.tsx"

export type UserDetails = typeof UserInfo.Type
export type AuditLine = typeof AuditEntry.Type

const USERS = "/api/user"

export const users = makePagedList<UserDetails>(USERS)
export const auditLog = makePagedList<AuditLine>("/api/audit")

const refresh = (): Promise<unknown> => Promise.all([users.refresh(), auditLog.refresh()])

/** The secret is a user's new system access token. */
export const userChanges = makeChanges(refresh)

const showToken = (username: string, secret: string): void => {
  userChanges.secret.value = { name: `System access token of ${username}`, secret, what: "the token" }
}

export const addUser = (body: Pick<UserDetails, "username" | "quota" | "role"> & Limits): Promise<boolean> =>
  userChanges.send(async () => {
    const { access_token, username } = await requestData<typeof NewUser.Type>("POST", USERS, body)
    showToken(username, access_token)
    return `The user ${username} was created. Copy their token now: it is shown once.`
  })

/** Makes a link, which works once and for three days, with the address of this page. */
export const inviteUser = (body: Pick<UserDetails, "username" | "quota" | "role">): Promise<boolean> =>
  userChanges.send(async () => {
    const { path } = await requestData<typeof Invitation.Type>("POST", "/api/invitation", body)
    userChanges.secret.value = {
      name: `Invitation of ${body.username}`,
      secret: location.origin + path,
      what: "the link"
    }
    return `Send the link to ${body.username}: it works once, within three days.`
  })

export const changeUser = (body: typeof UserUpdateRequest.Type, message: string): Promise<boolean> =>
  userChanges.sendRequest(message, "PUT", USERS, body)

export const replaceUserToken = ({ id, username }: UserDetails): Promise<boolean> =>
  userChanges.send(async () => {
    showToken(username, await requestData("POST", `${USERS}/${encodeURIComponent(id)}/token`))
    return `A new token for ${username} was created. Copy it now: it is shown once.`
  })

whileShown(["administration"], refresh, userChanges.clear)
