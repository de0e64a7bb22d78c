/** Reads responses of vendors of images and videos: results, states and errors in the interface's words. */
import { taskStatus } from "@sluice/core/client"
import type { ErrorFields, Fields, TaskDialect, VendorTaskState } from "../protocol/Dialect.ts"
import { jsonAt, nonEmptyText } from "../protocol/JsonValues.ts"

/** Vendors say these in words only, and with any status. */
const CLASSES: ReadonlyArray<readonly [pattern: RegExp, code: string, status: number]> = [
  [
    /moderat|safety|data ?inspection|sensitive|prohibited|inappropriate|nsfw|flagged|usage guideline|risk control|content (?:security )?(?:polic|checker)|policy violation/i,
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
const classify = (message: string): Pick<ErrorFields, "code" | "status"> => {
  const found = CLASSES.find(([pattern]) => pattern.test(message))
  return found === undefined ? {} : { code: found[1], status: found[2] }
}

/** An error by its code and its message; undefined without a message. `param`: the vendor's name of the field. */
export const vendorError = (
  message: string | undefined,
  param?: string,
  code?: string
): ErrorFields | undefined =>
  message === undefined ? undefined : { message, code, ...classify(`${code} ${message}`), param }

/** An error of the web framework of several vendors: a text, or a list of fields with their messages. */
export const detailError = (body: unknown): ErrorFields | undefined => {
  const detail = jsonAt(body, "detail")
  if (typeof detail === "string") return vendorError(detail)
  const first = jsonAt(detail, "0")
  return vendorError(idAt(first, "msg"), idAt(first, "loc", "1"), idAt(first, "type"))
}

/** A failed task. */
export const failedState = (message: unknown, code?: unknown): VendorTaskState => {
  const text = nonEmptyText(message) ?? "The task failed"
  const word = nonEmptyText(code) ?? "task_failed"
  return { status: "failed", error: { message: text, code: classify(`${word} ${text}`).code ?? word } }
}

/** The words of vendors for a task that waits, in lower case. */
const WAITING = new Set(["queued", "pending", "submitted", "starting", "throttled", "in_queue", "inqueue"])

/** The state that a vendor's word means; `unknown` is a task that the vendor has forgotten, any other word is unfinished. */
export const stateOf = (word: unknown): VendorTaskState["status"] => {
  const name = String(word).toLowerCase()
  const ended = name === "unknown" ? "failed" : taskStatus(name)
  if (ended === "completed" || ended === "failed") return ended
  return WAITING.has(name) ? "queued" : "in_progress"
}

/** The texts at a path such as `output.results.url`. Lists on the way are entered. */
export const textsAt = (value: unknown, path: string): ReadonlyArray<string> =>
  path
    .split(".")
    .reduce<ReadonlyArray<unknown>>(
      (found, name) => found.flatMap((one) => jsonAt(one, name)),
      [value].flat()
    )
    .filter((one) => typeof one === "string")

/** A text, or a number as text. */
export const idAt = (body: unknown, ...path: ReadonlyArray<string>): string | undefined => {
  const value = jsonAt(body, ...path)
  return typeof value === "number" ? String(value) : nonEmptyText(value)
}

/** A response with images, each a link or Base64 in a field of the interface. */
export const imagesResponse = (data: ReadonlyArray<Fields>): Fields => ({
  created: Math.floor(Date.now() / 1000),
  data
})

/** Where a vendor's responses have what the interface needs of a task, as paths such as `output.task_id`. */
interface TaskFields {
  /** The address of a task, before its id. */
  readonly path: string
  readonly id: string
  readonly status: string
  /** Why it failed. `unexplained`: in place of it. */
  readonly failure: string
  readonly unexplained?: string
  readonly code?: string
  /** The results. */
  readonly files: ReadonlyArray<string>
  /** From 0 to 1. */
  readonly progress?: string
  /** The length of a video. */
  readonly seconds?: ReadonlyArray<string>
  readonly remove?: TaskDialect["remove"]
}

/** Tasks that one address creates, and another one shows with their results. */
export const taskOf = ({ path, remove, seconds = [], ...at }: TaskFields): TaskDialect => {
  const valueAt = (body: unknown, name: string | undefined) => name && jsonAt(body, ...name.split("."))
  return {
    reference: (body) => idAt(body, ...at.id.split(".")),
    status: (id) => ({ path: `${path}/${id}` }),
    state: (body) => {
      const status = stateOf(valueAt(body, at.status))
      if (status === "failed") {
        return failedState(valueAt(body, at.failure) ?? at.unexplained, valueAt(body, at.code))
      }
      const progress = valueAt(body, at.progress)
      const length = seconds.map((name) => Math.round(Number(valueAt(body, name)))).find((found) => found > 0)
      return {
        status,
        progress: typeof progress === "number" ? Math.round(progress * 100) : undefined,
        files: at.files.flatMap((name) => textsAt(body, name)),
        ...(length !== undefined && { seconds: length })
      }
    },
    ...(remove !== undefined && { remove })
  }
}
