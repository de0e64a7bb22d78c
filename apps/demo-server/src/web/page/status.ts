/** The server's status, polled often while it works and seldom while it is ready. */
import { computed, effect, signal } from "@preact/signals"
import type { IngestStreamEvent, RebuildPlanBody, ServerStatus } from "../../contract/index.ts"
import { online, request, type RequestError, requestEvents, toRequestError } from "../api/request.ts"
import { announce } from "../ui/Notices.tsx"
import { tryRequest } from "./calls.ts"
import { connectionError, resume, session } from "./session.ts"

export const status = signal<ServerStatus>()

/** True if all models run in the server itself: the balance is charged, but no real money. */
export const isDemo = computed(() => status.value?.demo === true)

/** Whether a model is embedded: not a local one that was pulled, nor a gateway's. */
export const isDemoModel = (model: string): boolean => model.startsWith("sluice-")

/** Documents done in a rebuild that this page started. `total` is 0 until it is known. */
export const rebuilding = signal<{ readonly done: number; readonly total: number }>()
export const rebuildError = signal<RequestError>()

/** What a rebuild would cost, once the server has counted. */
export const rebuildPlan = signal<RebuildPlanBody>()

/** The embedding model for which the library has to be rebuilt. */
const rebuildFor = computed(() =>
  session.value === "open" && status.value?.state === "rebuild-needed"
    ? status.value.models.embedding
    : undefined
)

effect(() => {
  const model = rebuildFor.value
  rebuildPlan.value = undefined
  if (model === undefined) return
  const show = (plan: RebuildPlanBody) => {
    if (rebuildFor.peek() === model) rebuildPlan.value = plan
  }
  // Without a plan the banner has the counts of the status.
  void request<RebuildPlanBody>("GET", "/rebuild").then(show, () => undefined)
})

const BUSY_MS = 1_000
const READY_MS = 30_000
let timer: number | undefined

/** Loads the status and schedules the next time. Never rejects. */
export const refreshStatus = async (): Promise<void> => {
  clearTimeout(timer)
  try {
    status.value = await request<ServerStatus>("GET", "/status")
    if (session.value === "unknown") await resume()
  } catch (thrown) {
    connectionError.value = toRequestError(thrown)
  }
  const ready =
    online.value &&
    session.value !== "unknown" &&
    (status.value?.state === "ready" || status.value?.state === "rebuild-needed")
  clearTimeout(timer)
  timer = window.setTimeout(refreshStatus, ready ? READY_MS : BUSY_MS)
}

// The status that was read before the sign-in has no counts.
effect(() => {
  if (session.value === "open" && status.peek()?.documents === undefined) void refreshStatus()
})

effect(() => {
  if (!online.value) timer = window.setTimeout(refreshStatus, BUSY_MS)
})
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") void refreshStatus()
})

/** Reads every document again with the current models. */
export const rebuild = async (): Promise<void> => {
  let done = 0
  let total = 0
  rebuilding.value = { done, total }
  await tryRequest(rebuildError, async () => {
    await requestEvents<IngestStreamEvent>("/rebuild", {}, (event) => {
      if (event.type === "found") total = event.files
      if (event.type === "document") done++
      rebuilding.value = { done, total }
    })
    announce("The library was rebuilt.")
  })
  rebuilding.value = undefined
  await refreshStatus()
}
