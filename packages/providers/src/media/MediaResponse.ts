/** Reads responses of vendors of images and videos: results, states and errors in the interface's words. */
import { taskStatus } from "@sluice/core/client"
import type { ErrorFields, Fields, VendorTaskState } from "../protocol/Dialect.ts"
import { jsonAt } from "../text/Values.ts"

/** Vendors say these in words only, and with any status. */
const CLASSES: ReadonlyArray<readonly [pattern: RegExp, code: string, status: number]> = [
  [
    /moderat|safety|sensitive|prohibited|inappropriate|nsfw|flagged|usage guideline|risk control|content (?:security )?(?:polic|checker)|policy violation/i,
    "content_policy_violation",
    400
  ],
  [
    /(?:insufficient|not (?:have )?enough|exhausted|exceeded|out of).{0,40}(?:credit|balance|funds|quota.{0,40}(?:billing|plan))|balance (?:is )?(?:not enough|insufficient)|arrear|good standing/i,
    "insufficient_quota",
    402
  ]
]

/** The code and the status of an error, by its message. */
export const classify = (message: string): Pick<ErrorFields, "code" | "status"> => {
  const found = CLASSES.find(([pattern]) => pattern.test(message))
  return found === undefined ? {} : { code: found[1], status: found[2] }
}

/** An error by its message. `names`: the interface's names of the vendor's fields. */
export const vendorError = (
  message: string,
  field?: string,
  names: Readonly<Record<string, string>> = {}
): ErrorFields => ({
  message,
  ...classify(message),
  ...(field !== undefined && { param: names[field] ?? field })
})

/** An error of the web framework of several vendors: a text, or a list of fields with their messages. */
export const detailError = (
  body: unknown,
  names: Readonly<Record<string, string>>
): ErrorFields | undefined => {
  const detail = jsonAt(body, "detail")
  if (typeof detail === "string") return vendorError(detail)
  const message = idAt(detail, "0", "msg")
  if (message === undefined) return undefined
  const type = idAt(detail, "0", "type")
  const error = vendorError(message, idAt(detail, "0", "loc", "1"), names)
  return { ...error, code: type, ...classify(`${type} ${message}`) }
}

/** A failed task. */
export const failedState = (message: unknown, code?: unknown): VendorTaskState => {
  const text = typeof message === "string" && message !== "" ? message : "The task failed"
  const classified = classify(`${typeof code === "string" ? code : ""} ${text}`).code
  return {
    status: "failed",
    error: {
      message: text,
      code: classified ?? (typeof code === "string" && code !== "" ? code : "task_failed")
    }
  }
}

/** The words of vendors for a task that waits, and for one that they have forgotten, in lower case. */
const STATES: Readonly<Record<string, VendorTaskState["status"]>> = {
  queued: "queued",
  pending: "queued",
  submitted: "queued",
  starting: "queued",
  throttled: "queued",
  in_queue: "queued",
  inqueue: "queued",
  unknown: "failed"
}

/** The state that a vendor's word means; any other word is unfinished. */
export const stateOf = (word: unknown): VendorTaskState["status"] => {
  const ended = taskStatus(String(word))
  return ended === "completed" || ended === "failed"
    ? ended
    : (STATES[String(word).toLowerCase()] ?? "in_progress")
}

/** The texts of a list, or of one. */
export const textsIn = (value: unknown): ReadonlyArray<string> =>
  (Array.isArray(value) ? value : [value]).filter((one) => typeof one === "string")

/** The texts of a field of each entry of a list: `urlsIn(images)`. */
export const urlsIn = (list: unknown, name = "url"): ReadonlyArray<string> =>
  Array.isArray(list) ? list.flatMap((entry) => textsIn(jsonAt(entry, name))) : []

/** A text, or a number as text. */
export const idAt = (body: unknown, ...path: ReadonlyArray<string>): string | undefined => {
  const value = jsonAt(body, ...path)
  return typeof value === "number"
    ? String(value)
    : typeof value === "string" && value !== ""
      ? value
      : undefined
}

/** A response with images, each a link or Base64 in a field of the interface. */
export const imagesResponse = (data: ReadonlyArray<Fields>): Fields => ({
  created: Math.floor(Date.now() / 1000),
  data
})
