/** The documents of the chosen collection, their texts, and their removal. */
import { computed, effect, signal, untracked } from "@preact/signals"
import type { DocumentInfo, DocumentsPage, DocumentText, PageContent } from "../../contract/index.ts"
import { request, requestBlob, type RequestError, withCollection } from "../api/request.ts"
import { sendFiles } from "../api/sendFiles.ts"
import { loadCurrent, tryRequest } from "../page/calls.ts"
import { session } from "../page/session.ts"
import { refreshStatus, status } from "../page/status.ts"
import { matchesSearch, pluralize } from "../ui/format.ts"
import { announce } from "../ui/Notices.tsx"
import { collection, refreshCollections } from "./collections.tsx"

const listed = signal<{ readonly of: string; readonly documents: ReadonlyArray<DocumentInfo> }>()
/** Undefined until the documents of the chosen collection are known. */
export const documents = computed(() =>
  listed.value?.of === collection.value ? listed.value.documents : undefined
)

export const findDocuments = (search: string): ReadonlyArray<DocumentInfo> =>
  (documents.value ?? []).filter(({ path, title }) => matchesSearch(`${title} ${path}`, search))

export const documentsError = signal<RequestError>()
export const removalError = signal<RequestError>()

/** Orders names as people do: 2 before 10. */
const { compare } = new Intl.Collator(undefined, { numeric: true })

/** The documents of all pages. */
const loadDocuments = async (of: string): Promise<ReadonlyArray<DocumentInfo>> => {
  const all: Array<DocumentInfo> = []
  for (let query = ""; ;) {
    const page = await request<DocumentsPage>("GET", withCollection(of, `/documents${query}`))
    all.push(...page.documents)
    if (page.next === undefined) return all
    query = `?after=${encodeURIComponent(page.next)}`
  }
}

const refreshDocuments = (): Promise<void> =>
  loadCurrent(
    collection,
    loadDocuments,
    (documents, of) => {
      listed.value = { of, documents: documents.toSorted((a, b) => compare(a.path, b.path)) }
    },
    documentsError
  )

const texts = new Map<string, Promise<unknown>>()

/** Each text is loaded once. A failed request is forgotten. */
const load = <A>(path: string): Promise<A> => {
  const loading = texts.get(path) ?? request<A>("GET", path)
  texts.set(path, loading)
  loading.catch(() => texts.delete(path))
  return loading as Promise<A>
}

export const loadText = (collection: string, id: string): Promise<DocumentText> =>
  load(withCollection(collection, `/documents/${id}`))

export const loadPage = (collection: string, id: string, number: number): Promise<PageContent> =>
  load(withCollection(collection, `/documents/${id}/pages/${number}`))

export const documentsChanged = async (): Promise<void> => {
  texts.clear()
  await Promise.all([refreshDocuments(), refreshCollections(), refreshStatus()])
}

/** Removed documents with their files, enough to restore them; the latest last. */
export const removed = signal<
  ReadonlyArray<{ readonly document: DocumentInfo; readonly collection: string; readonly file: Blob }>
>([])
export const restoring = signal(false)

export const removing = signal<{ readonly done: number; readonly total: number }>()

/** Identifiers of documents whose removal has started. */
const inRemoval = new Set<string>()

/** Removes a document. Its file is downloaded first, so that the removal can be undone. */
export const removeDocument = async (document: DocumentInfo): Promise<void> => {
  const { id, title } = document
  if (inRemoval.has(id)) return
  inRemoval.add(id)
  await tryRequest(removalError, async () => {
    const of = collection.value
    const file = await requestBlob(withCollection(of, `/documents/${id}/file`))
    await request("DELETE", withCollection(of, `/documents/${id}`))
    removed.value = [...removed.value, { document, collection: of, file }]
    announce(`${title} was removed. You can undo this.`)
  })
  await documentsChanged().finally(() => inRemoval.delete(id))
}

/** Removes documents one after the other. This cannot be undone. */
export const removeDocuments = async (all: ReadonlyArray<DocumentInfo>): Promise<void> => {
  const of = collection.value
  let done = 0
  await tryRequest(removalError, async () => {
    for (const { id } of all) {
      removing.value = { done, total: all.length }
      await request("DELETE", withCollection(of, `/documents/${id}`))
      done++
    }
  })
  removing.value = undefined
  announce(`${pluralize(done, "document")} removed.`)
  await documentsChanged()
}

export const undoRemoval = async (): Promise<void> => {
  const last = removed.value.at(-1)
  if (last === undefined || restoring.value) return
  restoring.value = true
  await tryRequest(removalError, async () => {
    const { metadata, path, title } = last.document
    await sendFiles(last.collection, [{ path, file: last.file }], { ...(metadata && { metadata }) })
    removed.value = removed.value.filter((each) => each !== last)
    announce(`${title} was restored.`)
  })
  restoring.value = false
  await documentsChanged()
}

// While the samples are ingested, the list grows with the status.
effect(() => {
  void status.value?.documents
  void collection.value
  if (session.value === "open") void refreshDocuments()
})
effect(() => {
  void status.value?.documents
  if (session.value === "open") untracked(() => void refreshCollections())
})
