/** The documents of the library. */
import { effect, signal } from "@preact/signals"
import type { DocumentInfo } from "../../contract/index.ts"
import { toFailure, type Failure } from "../api/Failure.ts"
import { request, requestBlob } from "../api/request.ts"
import { sendFiles } from "../api/sendFiles.ts"
import { announce } from "./announce.ts"
import { session } from "./session.ts"
import { forgetTexts } from "./texts.ts"
import { refreshStatus, status } from "./status.ts"

export const documents = signal<ReadonlyArray<DocumentInfo> | undefined>(undefined)
export const libraryFailure = signal<Failure | undefined>(undefined)

/** The document removed last, with its bytes: enough to put it back. */
export const removed = signal<
  { readonly document: DocumentInfo; readonly original: Blob; readonly restoring: boolean } | undefined
>(undefined)

export const refreshDocuments = async (): Promise<void> => {
  try {
    documents.value = (await request<{ documents: Array<DocumentInfo> }>("GET", "/documents")).documents
    libraryFailure.value = undefined
  } catch (thrown) {
    libraryFailure.value = toFailure(thrown)
  }
}

/** After documents came or went. */
export const documentsChanged = async (): Promise<void> => {
  forgetTexts()
  await Promise.all([refreshDocuments(), refreshStatus()])
}

/** Removes at once; the original is fetched first, so that it can be undone. */
export const removeDocument = async (document: DocumentInfo): Promise<void> => {
  try {
    const original = await requestBlob(`/documents/${document.id}/file`)
    await request("DELETE", `/documents/${document.id}`)
    removed.value = { document, original, restoring: false }
    announce(`${document.title} was removed. Undo is offered.`)
  } catch (thrown) {
    libraryFailure.value = toFailure(thrown)
  }
  await documentsChanged()
}

export const undoRemoval = async (): Promise<void> => {
  const last = removed.value
  if (last === undefined || last.restoring) return
  removed.value = { ...last, restoring: true }
  try {
    const { metadata, path } = last.document
    await sendFiles([{ path, file: last.original }], { onSent() {}, onEvent() {} }, metadata)
    removed.value = undefined
    announce(`${last.document.title} is back.`)
  } catch (thrown) {
    removed.value = last
    libraryFailure.value = toFailure(thrown)
  }
  await documentsChanged()
}

// While the samples are read, the list grows with the status.
effect(() => {
  void status.value?.documents
  if (session.value === "open") void refreshDocuments()
})
