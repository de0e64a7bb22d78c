/** The document that is open beside the answer, and the part of it that is marked. */
import { computed, effect, signal } from "@preact/signals"
import type { AnswerBody, Citation, PassageFigure, Trace } from "../../contract/index.ts"
import { collection } from "../documents/collections.tsx"
import { loadPage } from "../documents/documents.ts"
import type { TextMark } from "../markdown/TextRuns.tsx"
import { currentRoute } from "../page/route.ts"
import { current } from "../questions/questions.ts"
import { figureLabel } from "../ui/format.ts"
import { announce } from "../ui/Notices.tsx"

type CheckedFigure = AnswerBody["figures"][number]

export type OpenSource = SourcePart & { readonly collection: string }

/** A whole document, or a part of it. */
interface SourcePart {
  readonly documentId: string
  readonly title: string
  readonly headings: ReadonlyArray<string>
  readonly mark?: TextMark
  readonly page?: number | undefined
  readonly locator?: string | undefined
  readonly boxes: Citation["boxes"]
  /** Absent: a whole document. */
  readonly passageId?: string
  readonly n?: number
  /** The figure or table, and what the vision model saw in it. */
  readonly figure?: PassageFigure | undefined
  readonly seen?: string | undefined
  /** Identifies it among the stops of the answer. */
  readonly stop?: string
  /** For screen readers. */
  readonly announcement?: string
}

export const source = signal<OpenSource>()

let opener: Element | null = null

const show = (next: SourcePart): void => {
  if (source.value === undefined) opener = document.activeElement
  const of = current.value?.collection ?? collection.value
  source.value = { ...next, collection: of }
  if (next.announcement !== undefined) announce(next.announcement)
  // The page is loaded beside the text. The component that shows it reports the error.
  if (next.page !== undefined) loadPage(of, next.documentId, next.page).catch(() => undefined)
}

const seenIn = (figure: PassageFigure | undefined): string | undefined =>
  figure?.crop &&
  current.value?.checked.find((look) => look.figure.crop === figure.crop && look.said !== "")?.said

const ofCitation = (citation: Citation): SourcePart => ({
  ...citation,
  mark: { start: citation.start, end: citation.end },
  stop: `citation ${citation.n}`,
  seen: seenIn(citation.figure),
  announcement: `Citation ${citation.n}: ${citation.title}. ${citation.figure ? figureLabel(citation.figure) : citation.quote}`
})

export const figureStop = ({ passageId }: CheckedFigure): string => `figure ${passageId}`

const ofFigure = (look: CheckedFigure): SourcePart => {
  const { document, documentId, figure, passageId, said } = look
  const { box, page } = figure
  const passage = current.value?.passages.find((traced) => traced.passage.id === passageId)?.passage
  return {
    documentId,
    title: passage?.document.title ?? document,
    headings: passage?.headings ?? [],
    boxes: page !== undefined && box !== undefined ? [{ page, box }] : [],
    figure,
    passageId,
    stop: figureStop(look),
    page,
    locator: passage?.locator,
    mark: passage,
    seen: said || undefined,
    announcement: `${figureLabel(figure)}: ${document}. ${said}`
  }
}

/** What an answer can be checked against, in order: its citations, then the checked figures that are not cited. */
export const stops = computed((): ReadonlyArray<SourcePart> => {
  const { checked = [], citations = [] } = current.value ?? {}
  const cited = new Set(citations.map(({ passageId }) => passageId))
  return [
    ...citations.map(ofCitation),
    ...checked.filter(({ passageId }) => !cited.has(passageId)).map(ofFigure)
  ]
})

/** Other passages of the trace that say the same as the source. */
export const copies = computed((): Trace["passages"] => {
  const shown = source.value?.passageId
  const passages = current.value?.passages ?? []
  const kept = passages.find(({ passage }) => passage.id === shown)?.sameAs ?? shown
  return passages.filter(
    ({ passage, sameAs }) =>
      kept !== undefined && passage.id !== shown && (sameAs === kept || passage.id === kept)
  )
})

export const openCitation = (citation: Citation): void => show(ofCitation(citation))
/** A citation of a summary, which is no stop of the answer. */
export const openQuote = (citation: Citation): void => {
  const { stop: _, ...part } = ofCitation(citation)
  show(part)
}
export const openFigure = (look: CheckedFigure): void => show(ofFigure(look))

export const openPassage = ({ passage }: Pick<Trace["passages"][number], "passage">): void =>
  show({
    documentId: passage.document.id,
    title: passage.document.title,
    headings: passage.headings,
    passageId: passage.id,
    mark: passage,
    boxes: passage.lines,
    figure: passage.figure,
    page: passage.page,
    locator: passage.locator
  })

export const openDocument = ({ id, title }: { readonly id: string; readonly title: string }): void =>
  show({ documentId: id, title, headings: [], boxes: [] })

/** Closes the source and moves the focus back to what opened it. */
export const closeSource = (): void => {
  if (source.value === undefined) return
  source.value = undefined
  // Where the panel covers the page, the page is hidden until it is rendered again, and takes no focus.
  document.querySelector(".shell")?.setAttribute("data-source", "closed")
  if (opener instanceof HTMLElement || opener instanceof SVGElement) opener.focus()
  opener = null
}

/** Opens the next or the previous stop of the answer, from the last to the first. */
export const stepCitation = (by: 1 | -1): void => {
  const all = stops.value
  const at = all.findIndex(({ stop }) => stop === source.value?.stop)
  const next = all[at === -1 ? (by === 1 ? 0 : all.length - 1) : (at + by + all.length) % all.length]
  if (next !== undefined) show(next)
}

// Another question or view closes the source; so does another collection in the list of documents.
effect(() => {
  if (currentRoute.value.view === "documents") void collection.value
  source.value = undefined
})
