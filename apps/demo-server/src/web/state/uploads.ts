/** Files on their way into the library. */
import { signal } from "@preact/signals"
import type { IngestEvent } from "../../contract/index.ts"
import { toFailure } from "../api/Failure.ts"
import { sendFiles, type PathedFile } from "../api/sendFiles.ts"
import { announce } from "./announce.ts"
import { collection } from "./collections.ts"
import { counted } from "./counted.ts"
import { documentsChanged } from "./library.ts"

/** One file. `sent` counts bytes. `reading` means that the server has it all. */
export interface Upload extends PathedFile {
  /** Where it goes. */
  readonly collection: string
  state: "waiting" | "sending" | "reading" | "added" | "replaced" | "unchanged" | "failed"
  sent: number
  /** Why it failed, and what to do. */
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

const onEvent = (byPath: Map<string, Upload>, event: IngestEvent): void => {
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
  let broken = "The server did not say what became of it. Send it again."
  try {
    await sendFiles(into, batch, {
      onSent: (bytes) => spread(batch, bytes),
      onEvent: (event) => onEvent(byPath, event)
    })
  } catch (thrown) {
    broken = toFailure(thrown).message
  }
  for (const upload of batch) {
    if (upload.state !== "sending" && upload.state !== "reading") continue
    upload.state = "failed"
    upload.message = broken
  }
  changed()
  await documentsChanged()
}

const run = async (): Promise<void> => {
  running = true
  for (let batch = takeBatch(); batch[0] !== undefined; batch = takeBatch())
    await sendBatch(batch[0].collection, batch)
  running = false
  changed()
  const failed = files.filter(({ state }) => state === "failed").length
  announce(`${counted(files.length - failed, "file")} read${failed > 0 ? `, ${failed} failed` : ""}.`)
}

/** Sends files one batch after the other. A path that is sent again takes the place of the one before. */
export const upload = (chosen: ReadonlyArray<PathedFile>): void => {
  if (chosen.length === 0) return
  const into = collection.value
  const fresh = chosen.map(({ file, path }): Upload => ({
    file,
    path,
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
  files = files.filter(({ state }) => state === "waiting" || state === "sending" || state === "reading")
  changed()
}
