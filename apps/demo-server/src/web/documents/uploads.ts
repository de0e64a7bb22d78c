/** Files on their way into the library. */
import { signal } from "@preact/signals"
import { documentPath } from "../../contract/DocumentPath.ts"
import type { IngestStreamEvent } from "../../contract/index.ts"
import { toFailure } from "../api/RequestError.ts"
import { sendFiles, type PathedFile } from "../api/sendFiles.ts"
import { announce } from "../ui/announce.ts"
import { collection } from "./collections.ts"
import { counted } from "../ui/counted.ts"
import { documentsChanged } from "./documents.ts"
import { session } from "../page/session.ts"

/** One file. `sent` counts bytes. `reading` means that the server has it all; `unsent`: nobody knows that it has. */
export interface Upload extends PathedFile {
  /** Where it goes. */
  readonly collection: string
  state: "waiting" | "sending" | "reading" | "added" | "replaced" | "unchanged" | "failed" | "unsent"
  sent: number
  /** Why it failed or was not sent, and what to do. */
  message?: string
}

/** All files of this visit; the array is the same, the signal's object is new at every change. */
export const uploads = signal<{ readonly files: ReadonlyArray<Upload>; readonly running: boolean }>({
  files: [],
  running: false
})

/** A request holds at most this many files or bytes: progress stays visible, a failure costs little. */
const BATCH = { files: 200, bytes: 32 * 1024 * 1024 }

let files: Array<Upload> = []
let waiting: Array<Upload> = []
let running = false
let painting = false

/** Thousands of events a second become one change a frame. */
const changed = (): void => {
  if (painting) return
  painting = true
  requestAnimationFrame(() => {
    painting = false
    uploads.value = { files, running }
  })
}

/** Of one collection. */
const takeBatch = (): Array<Upload> => {
  let bytes = 0
  const fits = waiting.findIndex(({ collection, file }, at) => {
    bytes += file.size
    const another = collection !== waiting[0]?.collection
    return another || at === BATCH.files || (at > 0 && bytes > BATCH.bytes)
  })
  return waiting.splice(0, fits === -1 ? waiting.length : fits)
}

/** The parts leave in order: so much of the request is so much of each file, but for the parts' headers. */
const spread = (batch: ReadonlyArray<Upload>, sent: number): void => {
  let left = sent
  for (const upload of batch) {
    upload.sent = Math.min(upload.file.size, left)
    left = Math.max(0, left - upload.file.size)
    if (upload.state === "sending" && upload.sent === upload.file.size) upload.state = "reading"
  }
  changed()
}

const onEvent = (byPath: Map<string, Upload>, event: IngestStreamEvent): void => {
  if (event.type !== "document" || event.status === "removed") return
  const upload = byPath.get(event.path)
  if (upload === undefined) return
  upload.state = event.status
  upload.sent = upload.file.size
  if (event.failure !== undefined) upload.message = event.failure.message
  changed()
}

const sendBatch = async (into: string, batch: ReadonlyArray<Upload>): Promise<void> => {
  const byPath = new Map(batch.map((upload) => [upload.path, upload]))
  for (const upload of batch) upload.state = "sending"
  let broken = "The server did not say what became of them."
  try {
    await sendFiles(into, batch, {
      onSent: (bytes) => spread(batch, bytes),
      onEvent: (event) => onEvent(byPath, event)
    })
  } catch (thrown) {
    const { code, message } = toFailure(thrown)
    broken = code === "offline" ? "The connection to the server broke." : message
  }
  for (const upload of batch) {
    if (upload.state !== "sending" && upload.state !== "reading") continue
    upload.state = "unsent"
    upload.message = broken
  }
  changed()
  await documentsChanged()
}

// What is left unsent would be lost with the page: the browser asks first, but not once its user is gone.
window.addEventListener("beforeunload", (event) => {
  if (running && session.value !== "unknown") event.preventDefault()
})

const run = async (): Promise<void> => {
  running = true
  for (let batch = takeBatch(); batch[0] !== undefined; batch = takeBatch())
    await sendBatch(batch[0].collection, batch)
  running = false
  changed()
  announce(`${outcome(files)}.`)
}

const isOneOf =
  (...states: ReadonlyArray<Upload["state"]>) =>
  ({ state }: Upload): boolean =>
    states.includes(state)

export const isFailed = isOneOf("failed")
export const isUnsent = isOneOf("unsent")
export const isMoving = isOneOf("sending", "reading")
export const isDone = isOneOf("added", "replaced", "unchanged", "failed", "unsent")

/** What finished uploads came to; says nothing of the rest of the library. */
export const outcome = (files: ReadonlyArray<Upload>): string => {
  const [failed, unsent] = [files.filter(isFailed).length, files.filter(isUnsent).length]
  const read = files.filter(isDone).length - failed - unsent
  return [
    ...(read > 0 ? [`${counted(read, "file")} read`] : []),
    ...(failed > 0 ? [`${counted(failed, "file")} could not be read`] : []),
    ...(unsent > 0 ? [`${counted(unsent, "file")} not sent`] : [])
  ].join(", ")
}

/** Once more what did not reach the server. */
export const sendAgain = (): void => {
  const unsent = files.filter(isUnsent)
  for (const upload of unsent) {
    Object.assign(upload, { state: "waiting", sent: 0 })
    delete upload.message
  }
  waiting.push(...unsent)
  changed()
  announce(`Sending ${counted(unsent.length, "file")}.`)
  if (!running) void run()
}

/** As the server will name it. A form carries no double quotes in names. */
const pathOf = (path: string): string => documentPath(path.replaceAll('"', "'"))

/** Sends files one batch after the other. A path that is sent again takes the place of the one before. */
export const upload = (chosen: ReadonlyArray<PathedFile>): void => {
  if (chosen.length === 0) return
  const into = collection.value
  const fresh = chosen.map(({ file, path }): Upload => ({
    file,
    path: pathOf(path),
    collection: into,
    state: "waiting",
    sent: 0
  }))
  const paths = new Set(fresh.map(({ path }) => path))
  const isReplaced = (of: Upload) => of.collection === into && paths.has(of.path)
  files = [...files.filter((each) => !isReplaced(each) || each.state === "sending"), ...fresh]
  waiting = [...waiting.filter((each) => !isReplaced(each)), ...fresh]
  changed()
  announce(`Sending ${counted(fresh.length, "file")}.`)
  if (!running) void run()
}

/** Takes finished files off the list. */
export const clearUploads = (): void => {
  files = files.filter((each) => !isDone(each))
  changed()
}
