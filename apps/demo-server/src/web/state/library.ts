/** The documents of the collection that is chosen. */
import { computed, effect, signal, untracked } from "@preact/signals"
import type { DocumentInfo } from "../../contract/index.ts"
import { toFailure, type Failure } from "../api/Failure.ts"
import { request, requestBlob } from "../api/request.ts"
import { sendFiles } from "../api/sendFiles.ts"
import { announce } from "./announce.ts"
import { pathIn } from "./collectionName.ts"
import { collection, refreshCollections } from "./collections.ts"
import { session } from "./session.ts"
import { forgetTexts } from "./texts.ts"
import { refreshStatus, status } from "./status.ts"

const listed = signal<{ readonly of: string; readonly documents: ReadonlyArray<DocumentInfo> } | undefined>(
  undefined
)
/** Absent until they are known; those of another collection are none of this one. */
export const documents = computed(() =>
  listed.value?.of === collection.value ? listed.value.documents : undefined
)
export const libraryFailure = signal<Failure | undefined>(undefined)

/** The document removed last, with its bytes: enough to put it back. */
export const removed = signal<
  | {
      readonly document: DocumentInfo
      readonly collection: string
      readonly original: Blob
      readonly restoring: boolean
    }
  | undefined
>(undefined)

export const refreshDocuments = async (): Promise<void> => {
  const of = collection.value
  try {
    const { documents } = await request<{ documents: Array<DocumentInfo> }>("GET", pathIn(of, "/documents"))
    if (of !== collection.value) return
    listed.value = { of, documents }
    libraryFailure.value = undefined
  } catch (thrown) {
    if (of === collection.value) libraryFailure.value = toFailure(thrown)
  }
}

/** After documents came or went. */
export const documentsChanged = async (): Promise<void> => {
  forgetTexts()
  await Promise.all([refreshDocuments(), refreshCollections(), refreshStatus()])
}

/** Removes at once; the original is fetched first, so that it can be undone. */
export const removeDocument = async (document: DocumentInfo): Promise<void> => {
  try {
    const of = collection.value
    const original = await requestBlob(pathIn(of, `/documents/${document.id}/file`))
    await request("DELETE", pathIn(of, `/documents/${document.id}`))
    removed.value = { document, collection: of, original, restoring: false }
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
    await sendFiles(last.collection, [{ path, file: last.original }], { onSent() {}, onEvent() {} }, metadata)
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
  void collection.value
  if (session.value === "open") void refreshDocuments()
})
effect(() => {
  void status.value?.documents
  if (session.value === "open") untracked(() => void refreshCollections())
})
