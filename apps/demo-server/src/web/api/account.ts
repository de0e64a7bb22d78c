/** Calls under `/api`: the account, its keys, and what administrators do. Types are those of the contract. */
import type { TokenCreateRequest, TokenRecord, UserRecord } from "@sluice/core/contract"
import type { AuditEntry, NewUser, UserInfo, UserUpdateRequest } from "../../contract/Administration.ts"
import type { DayUsage } from "../../contract/Usage.ts"
import { request, requestData } from "./request.ts"

/** A user as administrators see them. */
export type UserDetails = typeof UserInfo.Type
export type AuditLine = typeof AuditEntry.Type

/** Limits per minute; 0: none. */
export type Limits = Pick<UserDetails, "requests_per_minute" | "tokens_per_minute">

/** Seconds since 1970; -1: never. */
interface Expiring {
  readonly expired_time: number
}

export type KeyDetails = typeof TokenRecord.Encoded & Expiring & Partial<Limits>
export type KeyRequest = typeof TokenCreateRequest.Encoded & Expiring & Limits

/** Rows per page of every list. */
export const PAGE_SIZE = 50

const KEYS = "/api/token/"

/** Loads a page of a list, from 0. */
const listOf =
  <A>(path: string) =>
  (page: number): Promise<ReadonlyArray<A>> =>
    requestData("GET", `${path}?num=${PAGE_SIZE}&p=${page}`)

export const getUser = (): Promise<typeof UserRecord.Encoded> => requestData("GET", "/api/user/self")
export const getUsage = (days: number): Promise<ReadonlyArray<DayUsage>> =>
  requestData("GET", `/api/usage?days=${days}`)
/** Creates a system access token, which revokes the one before. */
export const renewAccessToken = (): Promise<string> => requestData("POST", "/api/user/token")

export const listKeys = listOf<KeyDetails>(KEYS)
export const createKey = (body: KeyRequest): Promise<KeyDetails> => requestData("POST", KEYS, body)
export const setKeyStatus = (id: number, status: 0 | 1): Promise<void> =>
  request("PUT", `${KEYS}?status_only=true`, { body: { id, status } })
export const deleteKey = (id: number): Promise<void> => request("DELETE", `${KEYS}${id}`)

export const listUsers = listOf<UserDetails>("/api/user")
export const listAuditLog = listOf<AuditLine>("/api/audit")
export type UserRequest = Pick<UserDetails, "username" | "quota" | "role"> & Limits
export const createUser = (body: UserRequest): Promise<typeof NewUser.Type> =>
  requestData("POST", "/api/user", body)
export type UserChange = typeof UserUpdateRequest.Type
export const updateUser = (body: UserChange): Promise<UserDetails> => requestData("PUT", "/api/user", body)
export const renewUserToken = (id: string): Promise<string> =>
  requestData("POST", `/api/user/${encodeURIComponent(id)}/token`)
