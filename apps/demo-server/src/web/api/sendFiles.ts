/** Sends files in one multipart request and follows both directions of it. */
import type { DocumentInfo, IngestStreamEvent } from "../../contract/index.ts"
import { eventParser } from "./eventParser.ts"
import { pathIn } from "./collectionPath.ts"
import { Failure, failureOf, offlineFailure } from "./RequestError.ts"
import { online, unauthorized } from "./request.ts"

/** A file and the path that names it in the library. */
export interface PathedFile {
  readonly path: string
  readonly file: Blob
}

interface Follow {
  /** Bytes of the request that have left so far. */
  readonly onSent: (bytes: number) => void
  readonly onEvent: (event: IngestStreamEvent) => void
}

/** `fetch` tells nothing of how much was sent, therefore XMLHttpRequest. `metadata` is attached to each of the files. */
export const sendFiles = (
  collection: string,
  files: ReadonlyArray<PathedFile>,
  { onEvent, onSent }: Follow,
  metadata?: DocumentInfo["metadata"]
): Promise<void> =>
  new Promise((resolve, reject) => {
    const form = new FormData()
    if (metadata !== undefined) form.append("metadata", JSON.stringify(metadata))
    for (const { file, path } of files) form.append("files", file, path)
    const xhr = new XMLHttpRequest()
    let read = 0
    let broken: Failure | undefined
    const parse = eventParser<IngestStreamEvent>((event) => {
      if (event.type === "error") broken = new Failure(event.error.message, 0, event.error.code ?? "unknown")
      else onEvent(event)
    })
    const readOn = () => {
      parse(xhr.responseText.slice(read))
      read = xhr.responseText.length
    }
    xhr.upload.addEventListener("progress", (event) => onSent(event.loaded))
    xhr.addEventListener("progress", () => {
      if (xhr.status === 200) readOn()
    })
    xhr.addEventListener("load", () => {
      online.value = true
      if (xhr.status === 401) unauthorized.notify("/documents")
      if (xhr.status !== 200) return reject(failureOf(xhr.status, xhr.responseText))
      readOn()
      return broken === undefined ? resolve() : reject(broken)
    })
    xhr.addEventListener("error", () => {
      online.value = false
      reject(offlineFailure())
    })
    xhr.open("POST", pathIn(collection, "/documents"))
    xhr.setRequestHeader("accept", "text/event-stream")
    xhr.send(form)
  })
