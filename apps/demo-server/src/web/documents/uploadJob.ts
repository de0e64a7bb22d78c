/** An uploaded file that continues as a job, so that it keeps no request of the page open. */
import type { Job } from "../../contract/Documents.ts"
import { request, toRequestError } from "../api/request.ts"
import { isActive, jobsOfUploads } from "./jobs.ts"
import type { FileUpload } from "./FileUpload.ts"

/** Milliseconds between two looks at a job that runs, or waits for its turn. */
const LOOK = { running: 1_000, queued: 5_000 }

const outcomeOf = ({ error, report, status }: Job): Pick<FileUpload, "message" | "state"> => {
  const failure = report?.failed[0] ?? error
  if (failure !== undefined) return { state: "failed", message: failure.message }
  if (report === undefined) return { state: status === "cancelled" ? "cancelled" : "failed" }
  return { state: report.replaced > 0 ? "replaced" : report.unchanged > 0 ? "unchanged" : "added" }
}

/** The job as it is now; undefined while the server is out of reach. */
const look = async (id: string): Promise<Job | undefined> => {
  try {
    return await request<Job>("GET", `/jobs/${id}`)
  } catch (thrown) {
    const error = toRequestError(thrown)
    if (error.code === "offline" || error.status >= 500) return undefined
    throw error
  }
}

const cancel = (id: string): void =>
  void request("DELETE", `/jobs/${id}`).catch(() => {
    // It has ended, or the server is out of reach: then its list of jobs shows it later.
    jobsOfUploads.delete(id)
  })

/** Follows the job of a file to its end. Calls `changed` after each change of the upload. */
export const followJob = async (
  upload: FileUpload,
  job: Job,
  signal: AbortSignal,
  changed: () => void
): Promise<void> => {
  try {
    jobsOfUploads.add(job.id)
    signal.addEventListener("abort", () => cancel(job.id))
    for (let now: Job | undefined = job; !signal.aborted; now = await look(job.id)) {
      if (now?.reading?.path === upload.path) upload.scan = now.reading
      if (now !== undefined && !isActive(now)) Object.assign(upload, outcomeOf(now))
      changed()
      if (now !== undefined && !isActive(now)) return
      const wait = now?.status === "running" ? LOOK.running : LOOK.queued
      await new Promise((resolve) => setTimeout(resolve, wait))
    }
  } catch (thrown) {
    if (signal.aborted) return
    Object.assign(upload, { state: "failed", message: toRequestError(thrown).message })
    changed()
  }
}
