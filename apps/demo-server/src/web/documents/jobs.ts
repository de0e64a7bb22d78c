/** Uploads and rebuilds that run in the background, started here or by a program. */
import { effect, signal, untracked } from "@preact/signals"
import type { Job } from "../../contract/Documents.ts"
import { request, type RequestError } from "../api/request.ts"
import { makeChanges, tryRequest } from "../page/calls.ts"
import { currentRoute } from "../page/route.ts"
import { session } from "../page/session.ts"
import { documentsChanged } from "./documents.ts"

/** Those that wait or run, and those that ended since the page shows them. */
export const jobs = signal<ReadonlyArray<Job>>([])
export const jobsError = signal<RequestError>()

/** Milliseconds between two looks, while a job runs or otherwise. */
const LOOK = { running: 1_500, resting: 20_000 }

/** Jobs of files that the list of uploads shows. */
export const jobsOfUploads = new Set<string>()

let timer: ReturnType<typeof setTimeout> | undefined
const shown = new Set<string>()

export const isActive = ({ status }: Job): boolean => status === "queued" || status === "running"

const refreshJobs = async (): Promise<void> => {
  clearTimeout(timer)
  let all: ReadonlyArray<Job> = []
  await tryRequest(jobsError, async () => {
    all = (await request<{ jobs: ReadonlyArray<Job> }>("GET", "/jobs")).jobs
  })
  const before = jobs.value.filter(isActive).length
  for (const job of all) if (job.kind !== "sync" && isActive(job)) shown.add(job.id)
  jobs.value = all.filter(({ id }) => shown.has(id) && !jobsOfUploads.has(id))
  const active = jobs.value.filter(isActive).length
  if (active < before) void documentsChanged()
  timer = setTimeout(() => void refreshJobs(), active > 0 ? LOOK.running : LOOK.resting)
}

const jobChanges = makeChanges(refreshJobs)

export const cancelJob = ({ id }: Job): Promise<boolean> =>
  jobChanges.sendRequest("The job was cancelled. What it has read stays.", "DELETE", `/jobs/${id}`)

export const clearJobs = (): void => {
  for (const job of jobs.value) if (!isActive(job)) shown.delete(job.id)
  jobs.value = jobs.value.filter(isActive)
}

effect(() => {
  const isShown = currentRoute.value.view === "documents" && session.value === "open"
  clearTimeout(timer)
  if (isShown) untracked(() => void refreshJobs())
})
