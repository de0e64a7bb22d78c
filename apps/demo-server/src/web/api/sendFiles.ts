/** File uploads. */
import type { DocumentInfo, IngestStreamEvent } from "../../contract/index.ts"
import {
  errorOf,
  isErrorEvent,
  makeEventParser,
  offlineError,
  online,
  parseErrorResponse,
  type RequestError,
  unauthorized,
  withCollection
} from "./request.ts"

export interface PathedFile {
  readonly path: string
  readonly file: Blob
}

interface UploadOptions {
  /** Bytes of the request sent so far. */
  readonly onSent?: (bytes: number) => void
  readonly onEvent?: (event: IngestStreamEvent) => void
  /** Aborts the request. Files that the server has received completely are kept. */
  readonly signal?: AbortSignal
  /** Attached to each file. */
  readonly metadata?: DocumentInfo["metadata"]
  /** Files that take longer than so many seconds go on as jobs. */
  readonly jobAfter?: number
}

/** Uploads files in one multipart request. It uses XMLHttpRequest: `fetch` does not report upload progress. */
export const sendFiles = (
  collection: string,
  files: ReadonlyArray<PathedFile>,
  { jobAfter, metadata, onEvent, onSent, signal }: UploadOptions
): Promise<void> =>
  new Promise((resolve, reject) => {
    const form = new FormData()
    if (metadata !== undefined) form.append("metadata", JSON.stringify(metadata))
    for (const { file, path } of files) form.append("files", file, path)
    const xhr = new XMLHttpRequest()
    let read = 0
    let error: RequestError | undefined
    const feed = makeEventParser<IngestStreamEvent>((event) => {
      if (isErrorEvent(event)) error = errorOf(event.error)
      else onEvent?.(event)
    })
    const readNew = () => {
      if (xhr.status !== 200) return
      const text = xhr.responseText.slice(read)
      read += text.length
      feed(text)
    }
    xhr.upload.addEventListener("progress", (event) => onSent?.(event.loaded))
    xhr.addEventListener("progress", readNew)
    xhr.addEventListener("load", () => {
      online.value = true
      if (xhr.status === 401) unauthorized.notify("/documents")
      readNew()
      if (xhr.status !== 200) error = parseErrorResponse(xhr.status, xhr.responseText)
      if (error === undefined) resolve()
      else reject(error)
    })
    xhr.addEventListener("error", () => {
      online.value = false
      reject(offlineError())
    })
    xhr.addEventListener("abort", () => reject(signal?.reason))
    signal?.addEventListener("abort", () => xhr.abort())
    xhr.open("POST", withCollection(collection, "/documents"))
    xhr.setRequestHeader("accept", "text/event-stream")
    if (jobAfter !== undefined) xhr.setRequestHeader("prefer", `respond-async, wait=${jobAfter}`)
    xhr.send(form)
  })
