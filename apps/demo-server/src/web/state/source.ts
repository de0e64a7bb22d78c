/** The document that is open beside the answer, and where in it. */
import { effect, signal } from "@preact/signals"
import type { Citation, DocumentText, PageText, Trace } from "../../contract/index.ts"
import { request } from "../api/request.ts"
import { announce } from "./announce.ts"
import { current } from "./questions.ts"
import { route } from "./route.ts"

/** What to show: a whole document, or a part of it to be marked. */
export interface Source {
  readonly documentId: string
  readonly title: string
  readonly headings: ReadonlyArray<string>
  readonly mark?: { readonly start: number; readonly end: number }
  readonly page?: number
  readonly boxes: Citation["boxes"]
  /** The citation's number, when it is one. */
  readonly n?: number
}

export const source = signal<Source | undefined>(undefined)

let opener: Element | null = null

const show = (next: Source): void => {
  if (source.value === undefined) opener = document.activeElement
  source.value = next
  // Both at once: the page need not wait for the text. Whoever shows it says what went wrong.
  if (next.page !== undefined) loadPage(next.documentId, next.page).catch(() => undefined)
}

export const openCitation = (citation: Citation): void => {
  show({
    documentId: citation.documentId,
    title: citation.title,
    headings: citation.headings,
    mark: { start: citation.start, end: citation.end },
    boxes: citation.boxes,
    n: citation.n,
    ...(citation.page === undefined ? {} : { page: citation.page })
  })
  announce(`Citation ${citation.n}: ${citation.title}. ${citation.quote}`)
}

export const openPassage = ({ passage }: Trace["passages"][number]): void =>
  show({
    documentId: passage.document.id,
    title: passage.document.title,
    headings: passage.headings,
    mark: { start: passage.start, end: passage.end },
    boxes: passage.lines,
    ...(passage.page === undefined ? {} : { page: passage.page })
  })

export const openDocument = (document: { readonly id: string; readonly title: string }): void =>
  show({ documentId: document.id, title: document.title, headings: [], boxes: [] })

/** Closes and puts the focus back where it was. */
export const closeSource = (): void => {
  if (source.value === undefined) return
  source.value = undefined
  if (opener instanceof HTMLElement || opener instanceof SVGElement) opener.focus()
  opener = null
}

/** The next or the previous citation of the answer, around the end. */
export const stepCitation = (by: 1 | -1): void => {
  const citations = current.value?.citations ?? []
  if (citations.length === 0) return
  const at = citations.findIndex(({ n }) => n === source.value?.n)
  const next =
    at === -1 ? (by === 1 ? 0 : citations.length - 1) : (at + by + citations.length) % citations.length
  const citation = citations[next]
  if (citation !== undefined) openCitation(citation)
}

// Another question or another view closes what belonged to the last.
effect(() => {
  void route.value
  source.value = undefined
})

const texts = new Map<string, Promise<DocumentText>>()
const pages = new Map<string, Promise<PageText>>()

const once = <A>(known: Map<string, Promise<A>>, path: string): Promise<A> => {
  const before = known.get(path)
  if (before !== undefined) return before
  const loading = request<A>("GET", path)
  known.set(path, loading)
  loading.catch(() => known.delete(path))
  return loading
}

export const loadText = (id: string): Promise<DocumentText> => once(texts, `/documents/${id}`)
export const loadPage = (id: string, number: number): Promise<PageText> =>
  once(pages, `/documents/${id}/pages/${number}`)

/** After documents changed, what was read of them may be old. */
export const forgetTexts = (): void => {
  texts.clear()
  pages.clear()
}
