/** The account's calls as the page makes them, in the interface's own shapes. */
import type { DayUsage } from "../../contract/Usage.ts"
import { data, request } from "./request.ts"

export interface User {
  readonly username: string
  /** Units; 500,000 are one USD. */
  readonly quota: number
}

/** What may be called in a minute; 0: no limit of its own. */
export interface Limits {
  readonly requests_per_minute: number
  readonly tokens_per_minute: number
}

export interface Key extends Partial<Limits> {
  readonly id: number
  readonly name: string
  /** Whole when it was just made, else masked. */
  readonly key?: string
  /** 1: enabled. */
  readonly status: number
  /** Seconds since 1970; -1: never. */
  readonly expired_time: number
  readonly remain_quota: number
  readonly subnet?: string
}

export interface NewKey extends Limits {
  readonly name: string
  readonly expired_time: number
  readonly remain_quota: number
  readonly subnet: string
}

const KEYS = "/api/token/"

/** Keys of a page of the list. */
export const KEYS_OF_PAGE = 50

export const getUser = (): Promise<User> => data(request("GET", "/api/user/self"))
export const listKeys = (page: number): Promise<ReadonlyArray<Key>> =>
  data(request("GET", `${KEYS}?num=${KEYS_OF_PAGE}&p=${page}`))
export const createKey = (body: NewKey): Promise<Key> => data(request("POST", KEYS, { body }))
export const setStatus = (id: number, status: 0 | 1): Promise<void> =>
  request("PUT", `${KEYS}?status_only=true`, { body: { id, status } })
export const deleteKey = (id: number): Promise<void> => request("DELETE", `${KEYS}${id}`)
export const getUsage = (days: number): Promise<ReadonlyArray<DayUsage>> =>
  data(request("GET", `/api/usage?days=${days}`))

/** A new system access token; the one before ends. */
export const renewAccessToken = (): Promise<string> => data(request("POST", "/api/user/token"))
