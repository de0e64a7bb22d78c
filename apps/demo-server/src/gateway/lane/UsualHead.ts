/** Which requests may take the lane, by their first line and their headers: those that every client sends. */
import type { IncomingMessage } from "node:http"
import { LANE_CALLS, type LaneCall } from "./LaneCall.ts"

/** Bytes of a body at most: a larger one is read for longer than the lane saves. */
const MAX_BYTES = 256 * 1024

/** Headers that ask for more than an answer: whoever handles them is asked. */
const UNUSUAL = ["cookie", "content-encoding", "transfer-encoding", "idempotency-key", "expect", "upgrade"]

const KEY = /^Bearer (sk-[A-Za-z0-9]+)$/
const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/i
const LENGTH = /^[1-9]\d{0,8}$/

export interface UsualHead {
  readonly call: LaneCall
  readonly key: string
  /** Bytes of the body. */
  readonly length: number
}

/** What is to be known of a usual request; undefined of any other. */
export const usualHead = ({ headers, method, url }: IncomingMessage): UsualHead | undefined => {
  if (method !== "POST" || url === undefined) return undefined
  const call = LANE_CALLS.get(url)
  if (call === undefined || !JSON_TYPE.test(headers["content-type"] ?? "")) return undefined
  for (const name of UNUSUAL) if (headers[name] !== undefined) return undefined
  const [, key] = KEY.exec(headers["authorization"] ?? "") ?? []
  const given = headers["content-length"] ?? ""
  const length = Number(given)
  if (key === undefined || !LENGTH.test(given) || length > MAX_BYTES) return undefined
  return { call, key, length }
}
