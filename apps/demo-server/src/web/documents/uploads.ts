/** File uploads. */
import { signal } from "@preact/signals"
import { documentPath } from "../../contract/Names.ts"
import type { Job } from "../../contract/Documents.ts"
import type { IngestStreamEvent } from "../../contract/index.ts"
import { sendFiles, type PathedFile } from "../api/sendFiles.ts"
import { toRequestError } from "../api/request.ts"
import { session } from "../page/session.ts"
import { announce } from "../ui/Notices.tsx"
import { pluralize } from "../ui/format.ts"
import { collection } from "./collections.tsx"
import { documentsChanged } from "./documents.ts"
import type { FileUpload } from "./FileUpload.ts"
import { followJob } from "./uploadJob.ts"

/** All files of this visit. The array stays the same; the signal's object is new at every change. */
export const uploads = signal<{ readonly files: ReadonlyArray<FileUpload>; readonly running: boolean }>({
  files: [],
  running: false
})

/** The most files and bytes of one request: progress stays visible, and a failure costs little. */
const BATCH = { files: 200, bytes: 32 * 1024 * 1024 }

/** Requests at the same time. A browser has six connections, and questions need some. */
const IN_FLIGHT = 3

/** Seconds without news after which the files of a request that are not read go on as jobs. */
const JOB_AFTER = 2

/** Files of one request. */
interface Batch {
  readonly files: ReadonlyArray<FileUpload>
  readonly stop: AbortController
}

let files: Array<FileUpload> = []
let waiting: Array<FileUpload> = []
const inFlight = new Set<Batch>()
/** Files that are read as jobs, and how to stop them. */
const inBackground = new Map<FileUpload, AbortController>()
let running = false
let scheduled = false

/** Publishes thousands of events a second as one change per frame. */
const publish = (): void => {
  if (scheduled) return
  scheduled = true
  requestAnimationFrame(() => {
    scheduled = false
    uploads.value = { files, running }
  })
}

const isSame = (a: FileUpload, b: FileUpload): boolean => a.collection === b.collection && a.path === b.path

/** Takes the next files of one collection from those that wait. None while the first one's path is being sent. */
const takeBatch = (): ReadonlyArray<FileUpload> => {
  const most = Math.min(BATCH.files, Math.ceil(waiting.length / IN_FLIGHT))
  let bytes = 0
  const end = waiting.findIndex((upload, at) => {
    bytes += upload.file.size
    const isOther = upload.collection !== waiting[0]?.collection
    // Of two requests with one path, the older one could be written last.
    const isBeingSent = [...inFlight].some((batch) => batch.files.some((other) => isSame(other, upload)))
    return isOther || isBeingSent || at === most || (at > 0 && bytes > BATCH.bytes)
  })
  return waiting.splice(0, end === -1 ? waiting.length : end)
}

/** Shares the bytes sent among the files: the parts of a request are sent in order. */
const spreadBytes = (batch: ReadonlyArray<FileUpload>, sent: number): void => {
  let left = sent
  for (const upload of batch) {
    upload.sent = Math.min(upload.file.size, left)
    left = Math.max(0, left - upload.file.size)
    if (upload.state === "sending" && upload.sent === upload.file.size) upload.state = "reading"
  }
  publish()
}

const continueAsJob = (upload: FileUpload, job: Job): void => {
  const stop = new AbortController()
  inBackground.set(upload, stop)
  Object.assign(upload, { state: "reading", sent: upload.file.size })
  void followJob(upload, job, stop.signal, publish).finally(() => {
    inBackground.delete(upload)
    sendWaiting()
    void documentsChanged()
  })
}

const sendBatch = async ({ files: batch, stop }: Batch): Promise<void> => {
  const byPath = new Map(batch.map((upload) => [upload.path, upload]))
  const onEvent = (event: IngestStreamEvent): void => {
    const upload = "path" in event ? byPath.get(event.path) : undefined
    if (event.type === "job" && upload !== undefined) continueAsJob(upload, event.job)
    if (event.type !== "document" || event.status === "removed" || upload === undefined) return
    const { failure, status: state } = event
    Object.assign(upload, { state, sent: upload.file.size, ...(failure && { message: failure.message }) })
    publish()
  }
  for (const upload of batch) upload.state = "sending"
  let reason = "The server did not report what happened to these files."
  try {
    const onSent = (bytes: number) => spreadBytes(batch, bytes)
    await sendFiles(batch[0]?.collection ?? "", batch, {
      onSent,
      onEvent,
      signal: stop.signal,
      jobAfter: JOB_AFTER
    })
  } catch (thrown) {
    const { code, message } = toRequestError(thrown)
    reason = code === "offline" ? "The connection to the server broke." : message
  }
  const open = batch.filter((upload) => isInProgress(upload) && !inBackground.has(upload))
  if (stop.signal.aborted) {
    // One of them was cancelled. The others are sent again: what the server has of them is unchanged then.
    for (const upload of open) Object.assign(upload, { state: "waiting", sent: 0 })
    waiting.unshift(...open)
  } else for (const upload of open) Object.assign(upload, { state: "unsent", message: reason })
  publish()
  await documentsChanged()
}

// Unsent files would be lost with the page: the browser asks first, unless the user has signed out.
window.addEventListener("beforeunload", (event) => {
  if (inFlight.size > 0 && session.value !== "unknown") event.preventDefault()
})

/** Sends what waits, several requests at a time. */
const sendWaiting = (): void => {
  while (inFlight.size < IN_FLIGHT) {
    const files = takeBatch()
    if (files.length === 0) break
    const batch = { files, stop: new AbortController() }
    inFlight.add(batch)
    void sendBatch(batch).finally(() => {
      inFlight.delete(batch)
      sendWaiting()
    })
  }
  const wasRunning = running
  running = inFlight.size > 0 || inBackground.size > 0
  publish()
  if (wasRunning && !running) announce(`${describeUploads(files)}.`)
}

const start = (fresh: ReadonlyArray<FileUpload>): void => {
  waiting.push(...fresh)
  announce(`Sending ${pluralize(fresh.length, "file")}.`)
  sendWaiting()
}

/** Cancels files that are not read yet. What the server has received completely may stay. */
export const cancelUploads = (chosen: ReadonlyArray<FileUpload>): void => {
  const cancelled = new Set(chosen.filter((upload) => !isFinished(upload)))
  for (const upload of cancelled) upload.state = "cancelled"
  waiting = waiting.filter((upload) => !cancelled.has(upload))
  for (const batch of inFlight)
    if (batch.files.some((upload) => cancelled.has(upload))) batch.stop.abort(new Error("cancelled"))
  for (const upload of cancelled) inBackground.get(upload)?.abort()
  publish()
}

const isIn =
  (...states: ReadonlyArray<FileUpload["state"]>) =>
  ({ state }: FileUpload): boolean =>
    states.includes(state)

export const isFailed = isIn("failed")
export const isUnsent = isIn("unsent")
export const isInProgress = isIn("sending", "reading")
export const isFinished = isIn("added", "replaced", "unchanged", "failed", "unsent", "cancelled")

/** `2 files read, 1 file not sent`. */
export const describeUploads = (files: ReadonlyArray<FileUpload>): string => {
  const count = (is: (upload: FileUpload) => boolean) => files.filter(is).length
  const outcomes = {
    read: count(isIn("added", "replaced", "unchanged")),
    "could not be read": count(isFailed),
    "not sent": count(isUnsent),
    cancelled: count(isIn("cancelled"))
  }
  return Object.entries(outcomes)
    .filter(([, files]) => files > 0)
    .map(([outcome, files]) => `${pluralize(files, "file")} ${outcome}`)
    .join(", ")
}

/** Sends again what did not reach the server. */
export const resendFiles = (): void => {
  const unsent = files.filter(isUnsent)
  for (const upload of unsent) {
    Object.assign(upload, { state: "waiting", sent: 0 })
    delete upload.message
  }
  start(unsent)
}

/** The path that the server will use. A form cannot carry double quotes in file names. */
const serverPath = (path: string): string => documentPath(path.replaceAll('"', "'"))

/** Uploads files in batches. A file with the path of an earlier one replaces it. */
export const uploadFiles = (chosen: ReadonlyArray<PathedFile>): void => {
  if (chosen.length === 0) return
  const into = collection.value
  const fresh = chosen.map(({ file, path }): FileUpload => {
    return { file, path: serverPath(path), collection: into, state: "waiting", sent: 0 }
  })
  const paths = new Set(fresh.map(({ path }) => path))
  const isReplaced = (of: FileUpload) => of.collection === into && paths.has(of.path)
  cancelUploads([...inBackground.keys()].filter(isReplaced))
  files = [...files.filter((each) => !isReplaced(each) || isInProgress(each)), ...fresh]
  waiting = waiting.filter((each) => !isReplaced(each))
  start(fresh)
}

export const clearUploads = (): void => {
  files = files.filter((each) => !isFinished(each))
  publish()
}
