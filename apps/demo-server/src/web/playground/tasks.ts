/** Follows a task of the gateway until it ends. */
import { RequestError, toRequestError } from "../api/request.ts"

type Task = { readonly status?: string | undefined; readonly error?: unknown }

/** Milliseconds before each poll: often at first, then as seldom as the interface recommends. */
const WAITS = [500, 500, 1_000, 1_000, 1_000, 1_000, 2_000, 2_000, 3_000, 5_000, 8_000, 15_000]

/** The message of a failed task, whose error has no fixed form. */
const messageOf = (error: unknown): string => {
  if (typeof error === "string" && error !== "") return error
  if (typeof error === "object" && error !== null && "message" in error) return String(error.message)
  return "The model failed and gave no reason. Try another prompt or another model."
}

/** Polls until the task is completed; a failed task rejects. A poll without a response is repeated. */
export const followTask = async <A extends Task>(
  first: A,
  poll: (task: A) => Promise<A>,
  onProgress: (task: A) => void,
  signal: AbortSignal
): Promise<A> => {
  let task = first
  for (let at = 0; task.status !== "completed"; at++) {
    if (task.status === "failed") throw new RequestError(messageOf(task.error), 0, "task_failed")
    onProgress(task)
    await new Promise((resolve) => setTimeout(resolve, WAITS[at] ?? WAITS.at(-1)))
    signal.throwIfAborted()
    const before = task
    task = await poll(task).catch((thrown: unknown) => {
      const { code, status } = toRequestError(thrown)
      if (code !== "offline" && status !== 503) throw thrown
      return before
    })
  }
  return task
}

/** As the `ref` of an element: scrolls it into view when it appears. */
export const scrollIntoView = (element: HTMLElement | null): void =>
  element?.scrollIntoView({ block: "nearest" })

/** `in_progress` as people read it. */
export const statusText = (status: string): string => status.replaceAll("_", " ")
