/** File uploads. */
import { signal } from "@preact/signals"
import { documentPath } from "../../contract/Names.ts"
import type { IngestStreamEvent } from "../../contract/index.ts"
import { sendFiles, type PathedFile } from "../api/sendFiles.ts"
import { toRequestError } from "../api/request.ts"
import { session } from "../page/session.ts"
import { announce } from "../ui/Notices.tsx"
import { pluralize } from "../ui/format.ts"
import { collection } from "./collections.tsx"
import { documentsChanged } from "./documents.ts"

/** One file. `reading`: the server has all of it. `unsent`: the server may not have it. */
export interface FileUpload extends PathedFile {
  readonly collection: string
  state: "waiting" | "sending" | "reading" | "added" | "replaced" | "unchanged" | "failed" | "unsent"
  sent: number
  /** Why it failed or was not sent, and what to do. */
  message?: string
}

/** All files of this visit. The array stays the same; the signal's object is new at every change. */
export const uploads = signal<{ readonly files: ReadonlyArray<FileUpload>; readonly running: boolean }>({
  files: [],
  running: false
})

/** The most files and bytes of one request: progress stays visible, and a failure costs little. */
const BATCH = { files: 200, bytes: 32 * 1024 * 1024 }

let files: Array<FileUpload> = []
let waiting: Array<FileUpload> = []
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

/** Takes the next files of one collection from those that wait. */
const takeBatch = (): Array<FileUpload> => {
  let bytes = 0
  const end = waiting.findIndex(({ collection, file }, at) => {
    bytes += file.size
    const isOther = collection !== waiting[0]?.collection
    return isOther || at === BATCH.files || (at > 0 && bytes > BATCH.bytes)
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

const sendBatch = async (into: string, batch: ReadonlyArray<FileUpload>): Promise<void> => {
  const byPath = new Map(batch.map((upload) => [upload.path, upload]))
  const onEvent = (event: IngestStreamEvent): void => {
    const upload = event.type === "document" ? byPath.get(event.path) : undefined
    if (event.type !== "document" || event.status === "removed" || upload === undefined) return
    const { failure, status: state } = event
    Object.assign(upload, { state, sent: upload.file.size, ...(failure && { message: failure.message }) })
    publish()
  }
  for (const upload of batch) upload.state = "sending"
  let reason = "The server did not report what happened to these files."
  try {
    await sendFiles(into, batch, { onSent: (bytes) => spreadBytes(batch, bytes), onEvent })
  } catch (thrown) {
    const { code, message } = toRequestError(thrown)
    reason = code === "offline" ? "The connection to the server broke." : message
  }
  for (const upload of batch.filter(isInProgress)) Object.assign(upload, { state: "unsent", message: reason })
  publish()
  await documentsChanged()
}

// Unsent files would be lost with the page: the browser asks first, unless the user has signed out.
window.addEventListener("beforeunload", (event) => {
  if (running && session.value !== "unknown") event.preventDefault()
})

const sendAll = async (): Promise<void> => {
  running = true
  for (let batch = takeBatch(); batch[0] !== undefined; batch = takeBatch())
    await sendBatch(batch[0].collection, batch)
  running = false
  publish()
  announce(`${describeUploads(files)}.`)
}

const start = (fresh: ReadonlyArray<FileUpload>): void => {
  waiting.push(...fresh)
  publish()
  announce(`Sending ${pluralize(fresh.length, "file")}.`)
  if (!running) void sendAll()
}

const isIn =
  (...states: ReadonlyArray<FileUpload["state"]>) =>
  ({ state }: FileUpload): boolean =>
    states.includes(state)

export const isFailed = isIn("failed")
export const isUnsent = isIn("unsent")
export const isInProgress = isIn("sending", "reading")
export const isFinished = isIn("added", "replaced", "unchanged", "failed", "unsent")

/** `2 files read, 1 file not sent`. */
export const describeUploads = (files: ReadonlyArray<FileUpload>): string => {
  const [failed, unsent] = [files.filter(isFailed).length, files.filter(isUnsent).length]
  const read = files.filter(isFinished).length - failed - unsent
  return Object.entries({ read, "could not be read": failed, "not sent": unsent })
    .filter(([, count]) => count > 0)
    .map(([outcome, count]) => `${pluralize(count, "file")} ${outcome}`)
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
  files = [...files.filter((each) => !isReplaced(each) || each.state === "sending"), ...fresh]
  waiting = waiting.filter((each) => !isReplaced(each))
  start(fresh)
}

export const clearUploads = (): void => {
  files = files.filter((each) => !isFinished(each))
  publish()
}
