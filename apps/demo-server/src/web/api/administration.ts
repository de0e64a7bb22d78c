/** What administrators ask of the server. */
import type { AuditEntry, NewUser, UserInfo } from "../../contract/Administration.ts"
import type { Limits } from "./account.ts"
import { data, request } from "./request.ts"

export type User = typeof UserInfo.Type
export type FreshUser = typeof NewUser.Type
export type Entry = typeof AuditEntry.Type

/** Users, or entries of the log, of a page of the list. */
export const OF_PAGE = 50

export const listUsers = (page: number): Promise<ReadonlyArray<User>> =>
  data(request("GET", `/api/user?num=${OF_PAGE}&p=${page}`))
export type WantedUser = Pick<User, "username" | "quota" | "role"> & Limits
export const createUser = (body: WantedUser): Promise<FreshUser> =>
  data(request("POST", "/api/user", { body }))

/** What is to change of a user; `add_quota` in units, below 0 to take. */
export interface Change extends Partial<Limits> {
  readonly id: string
  readonly role?: User["role"]
  readonly status?: User["status"]
  readonly add_quota?: number
}
export const updateUser = (body: Change): Promise<User> => data(request("PUT", "/api/user", { body }))
export const renewUserToken = (id: string): Promise<string> =>
  data(request("POST", `/api/user/${encodeURIComponent(id)}/token`))
export const listEntries = (page: number): Promise<ReadonlyArray<Entry>> =>
  data(request("GET", `/api/audit?num=${OF_PAGE}&p=${page}`))
