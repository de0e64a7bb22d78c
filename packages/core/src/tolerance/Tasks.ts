/** Tasks of images and videos: numeric ids, the many words for their states, and images in any form. */
import { Predicate } from "effect"
import { parseJson } from "../contract/Fields.ts"
import { definedFields } from "../DefinedFields.ts"

type Fields = Readonly<Record<string, unknown>>

/** Numbers beyond 2^53 lose digits when they are parsed. A quote inside a text is escaped, so this is a field. */
const LARGE_ID = /(?<!\\)"id"\s*:\s*(\d{16,})/g

/** Parses the body of a task with its exact id. */
export const parseTask = (text: string): unknown => parseJson(text.replace(LARGE_ID, '"id":"$1"'))

const COMPLETED = /^(?:completed?|succeed(?:ed)?|success|finished|done)$/
const FAILED = /^(?:fail(?:ed|ure)?|error(?:ed)?|cancell?ed|expired|rejected|aborted)$/
const RUNNING = /^(?:queued|in_progress)$/

/** `completed` or `failed` for every word that ends a task, in any case; other states unchanged. */
export const taskStatus = (status: string): string => {
  const word = status.trim().toLowerCase()
  if (COMPLETED.test(word)) return "completed"
  return FAILED.test(word) ? "failed" : RUNNING.test(word) ? word : status
}

/** A task in the contract's form. Without an error of its own, a failed task has the gateway's word for its state. */
const withTaskFields = ({ error, id, status, ...rest }: Fields): Fields => {
  const canonical = typeof status === "string" && status !== "" ? taskStatus(status) : undefined
  const isNamed = canonical === "failed" && !/^failed$/i.test(String(status))
  const reason = error ?? (isNamed ? status : undefined)
  const known = id === "" ? undefined : typeof id === "number" ? String(id) : id
  return definedFields({ ...rest, id: known, status: canonical, error: reason })
}

/** A video task in the contract's form. */
export const tolerateVideo = (json: unknown): unknown =>
  Predicate.isObject(json) ? withTaskFields(json) : json

const LINK = /^(?:https?:|data:)/i
const BASE64 = /^[\w+/-]{4,}={0,2}$/

/** An image as an object. Some gateways send its link or its Base64 alone. */
const imageOf = (image: unknown): unknown => {
  if (typeof image !== "string") return image
  if (LINK.test(image)) return { url: image }
  return BASE64.test(image) ? { b64_json: image } : image
}

/** Images, or the task that creates them, in the contract's form. One image may come without a list. */
export const tolerateImages = (json: unknown): unknown => {
  if (!Predicate.isObject(json)) return json
  const { data, ...task } = withTaskFields(json)
  if (data === undefined || data === null) return task
  const list: ReadonlyArray<unknown> = Array.isArray(data) ? data : [data]
  return { ...task, data: list.map(imageOf) }
}
