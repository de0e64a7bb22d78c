/** How the server is, asked often while it works and seldom while it rests. */
import { effect, signal } from "@preact/signals"
import type { IngestStreamEvent, ServerStatus } from "../../contract/index.ts"
import { toFailure, type Failure } from "../api/RequestError.ts"
import { online, request, requestEvents } from "../api/request.ts"
import { announce } from "../ui/announce.ts"
import { resume, session, unknownBecause } from "./session.ts"

export const status = signal<ServerStatus | undefined>(undefined)

/** Documents done, of how many, in a rebuild that this page asked for. `total` is 0 until it is known. */
export const rebuilding = signal<{ readonly done: number; readonly total: number } | undefined>(undefined)
export const rebuildFailure = signal<Failure | undefined>(undefined)

const WORKING_MS = 1_000
const RESTING_MS = 30_000
let timer: number | undefined

/** Asks now, and plans the next time. Never rejects. */
export const refreshStatus = async (): Promise<void> => {
  clearTimeout(timer)
  try {
    status.value = await request<ServerStatus>("GET", "/status")
    if (session.value === "unknown") await resume()
  } catch (thrown) {
    unknownBecause.value = toFailure(thrown)
  }
  const resting =
    online.value &&
    session.value !== "unknown" &&
    (status.value?.state === "ready" || status.value?.state === "rebuild-needed")
  timer = window.setTimeout(refreshStatus, resting ? RESTING_MS : WORKING_MS)
}

effect(() => {
  if (!online.value) timer = window.setTimeout(refreshStatus, WORKING_MS)
})
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") void refreshStatus()
})

/** Reads every document again with the models of today. */
export const rebuild = async (): Promise<void> => {
  rebuildFailure.value = undefined
  let done = 0
  let total = 0
  rebuilding.value = { done, total }
  try {
    await requestEvents<IngestStreamEvent>("/rebuild", {}, (event) => {
      if (event.type === "found") total = event.files
      if (event.type === "document") done++
      rebuilding.value = { done, total }
    })
    announce("The library was rebuilt.")
  } catch (thrown) {
    rebuildFailure.value = toFailure(thrown)
  }
  rebuilding.value = undefined
  await refreshStatus()
}
