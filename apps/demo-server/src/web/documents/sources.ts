/** The sources of the chosen collection. */
import { effect, signal, untracked } from "@preact/signals"
import type { SourceInfo, SourceList, SourceSchedule } from "../../contract/Sources.ts"
import { request, type RequestError, withCollection } from "../api/request.ts"
import { loadCurrent, makeChanges } from "../page/calls.ts"
import { currentRoute } from "../page/route.ts"
import { session } from "../page/session.ts"
import { collection } from "./collections.tsx"
import { documentsChanged } from "./documents.ts"

export const sources = signal<SourceList>()
export const sourcesError = signal<RequestError>()

/** Milliseconds between two looks: at sources that run, and at those that may begin to. */
const LOOK = { running: 1_500, resting: 15_000 }

let timer: ReturnType<typeof setTimeout> | undefined
/** The last runs and changes that the list of documents has. */
let seen = ""

/** Loads them, and again while the page shows the documents. */
export const refreshSources = async (): Promise<void> => {
  clearTimeout(timer)
  await loadCurrent(
    collection,
    (name) => request<SourceList>("GET", withCollection(name, "/sources")),
    (list) => (sources.value = list),
    sourcesError
  )
  const list = sources.value?.sources ?? []
  const now = JSON.stringify(list.map(({ changes, done, job }) => [job, done, changes]))
  if (seen !== "" && seen !== now) void documentsChanged()
  seen = now
  const isRunning = list.some(({ state }) => state === "running" || state === "waiting")
  if (list.length > 0)
    timer = setTimeout(() => void refreshSources(), isRunning ? LOOK.running : LOOK.resting)
}

export const sourceChanges = makeChanges(refreshSources)

export interface SourceForm {
  readonly address: string
  readonly name: string
  readonly credential: string
  readonly schedule: SourceSchedule | null
}

export const addSource = ({ address, credential, name, schedule }: SourceForm): Promise<boolean> =>
  sourceChanges.send(async () => {
    const body = {
      address,
      collection: collection.value,
      schedule,
      ...(name !== "" && { name }),
      ...(credential !== "" && { credential })
    }
    const added = await request<SourceInfo>("POST", "/sources", { body })
    return `The source ${added.name} was added.`
  })

export const runSource = ({ id, name }: SourceInfo): Promise<boolean> =>
  sourceChanges.sendRequest(`The source ${name} is read now.`, "POST", `/sources/${id}/run`)

export const cancelRun = ({ job, name }: SourceInfo): Promise<boolean> =>
  sourceChanges.sendRequest(`The run of ${name} was cancelled.`, "DELETE", `/jobs/${job ?? ""}`)

export const pauseSource = ({ id, name }: SourceInfo, paused: boolean): Promise<boolean> => {
  const state = paused ? "paused" : "followed again"
  return sourceChanges.sendRequest(`The source ${name} is ${state}.`, "PUT", `/sources/${id}`, { paused })
}

export const changeSchedule = ({ id, name }: SourceInfo, schedule: SourceSchedule | null): Promise<boolean> =>
  sourceChanges.sendRequest(`The source ${name} has another schedule.`, "PUT", `/sources/${id}`, { schedule })

export const removeSource = ({ id, name }: SourceInfo): Promise<boolean> =>
  sourceChanges.send(async () => {
    await request("DELETE", `/sources/${id}`)
    void documentsChanged()
    return `The source ${name} was removed with its documents.`
  })

effect(() => {
  const isShown = currentRoute.value.view === "documents" && session.value === "open"
  void collection.value
  clearTimeout(timer)
  untracked(() => {
    sources.value = undefined
    seen = ""
    if (isShown) void refreshSources()
  })
})
