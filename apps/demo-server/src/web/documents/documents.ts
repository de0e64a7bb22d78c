/** The documents of the collection that is chosen. */
import { computed, effect, signal, untracked } from "@preact/signals"
import type { DocumentInfo } from "../../contract/index.ts"
import { toFailure, type Failure } from "../api/RequestError.ts"
import { request, requestBlob } from "../api/request.ts"
import { sendFiles } from "../api/sendFiles.ts"
import { announce } from "../ui/announce.ts"
import { pathIn } from "../api/collectionPath.ts"
import { collection, refreshCollections } from "./collections.ts"
import { counted } from "../ui/counted.ts"
import { session } from "../page/session.ts"
import { forgetTexts } from "./documentTexts.ts"
import { refreshStatus, status } from "../page/status.ts"

const listed = signal<{ readonly of: string; readonly documents: ReadonlyArray<DocumentInfo> } | undefined>(
  undefined
)
/** Absent until they are known; those of another collection are none of this one. */
export const documents = computed(() =>
  listed.value?.of === collection.value ? listed.value.documents : undefined
)
export const libraryFailure = signal<Failure | undefined>(undefined)

/** What could not be done to documents, and why. */
export const removalFailure = signal<Failure | undefined>(undefined)

/** A document that was removed, with its bytes: enough to put it back. */
interface Removed {
  readonly document: DocumentInfo
  readonly collection: string
  readonly original: Blob
}

/** What can be put back, the latest last. */
export const removed = signal<ReadonlyArray<Removed>>([])
export const restoring = signal(false)

/** How many of those that are being removed are gone. */
export const removing = signal<{ readonly done: number; readonly total: number } | undefined>(undefined)

/** As people order names: 2 before 10. */
const { compare } = new Intl.Collator(undefined, { numeric: true })

export const refreshDocuments = async (): Promise<void> => {
  const of = collection.value
  try {
    const { documents } = await request<{ documents: Array<DocumentInfo> }>("GET", pathIn(of, "/documents"))
    if (of !== collection.value) return
    listed.value = { of, documents: documents.toSorted((a, b) => compare(a.path, b.path)) }
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

/** Identifiers of documents on their way out: they are not removed again. */
const leaving = new Set<string>()

/** Removes at once; the original is fetched first, so that it can be undone. */
export const removeDocument = async (document: DocumentInfo): Promise<void> => {
  if (leaving.has(document.id)) return
  leaving.add(document.id)
  removalFailure.value = undefined
  try {
    const of = collection.value
    const original = await requestBlob(pathIn(of, `/documents/${document.id}/file`))
    await request("DELETE", pathIn(of, `/documents/${document.id}`))
    removed.value = [...removed.value, { document, collection: of, original }]
    announce(`${document.title} was removed. Undo is offered.`)
  } catch (thrown) {
    removalFailure.value = toFailure(thrown)
  }
  await documentsChanged().finally(() => leaving.delete(document.id))
}

/** Removes many for good, one after the other. */
export const removeDocuments = async (all: ReadonlyArray<DocumentInfo>): Promise<void> => {
  const of = collection.value
  removalFailure.value = undefined
  let done = 0
  try {
    for (const { id } of all) {
      removing.value = { done, total: all.length }
      await request("DELETE", pathIn(of, `/documents/${id}`))
      done++
    }
  } catch (thrown) {
    removalFailure.value = toFailure(thrown)
  }
  removing.value = undefined
  announce(`${counted(done, "document")} removed.`)
  await documentsChanged()
}

export const undoRemoval = async (): Promise<void> => {
  const last = removed.value.at(-1)
  if (last === undefined || restoring.value) return
  restoring.value = true
  removalFailure.value = undefined
  try {
    const { metadata, path } = last.document
    await sendFiles(last.collection, [{ path, file: last.original }], { onSent() {}, onEvent() {} }, metadata)
    removed.value = removed.value.filter((each) => each !== last)
    announce(`${last.document.title} is back.`)
  } catch (thrown) {
    removalFailure.value = toFailure(thrown)
  }
  restoring.value = false
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
