/** The document that is open beside the answer, and where in it. */
import { computed, effect, signal } from "@preact/signals"
import type { AnswerBody, Citation, PassageFigure, Trace } from "../../contract/index.ts"
import { announce } from "../ui/announce.ts"
import { collection } from "../documents/collections.ts"
import { figureName } from "./figureName.ts"
import { current } from "../questions/questions.ts"
import { route } from "../page/route.ts"
import { loadPage } from "../documents/documentTexts.ts"

type Look = AnswerBody["figures"][number]

/** What to show: a whole document, or a part of it to be marked. */
export interface Source {
  readonly collection: string
  readonly documentId: string
  readonly title: string
  readonly headings: ReadonlyArray<string>
  readonly mark?: { readonly start: number; readonly end: number }
  readonly page?: number
  readonly boxes: Citation["boxes"]
  /** The passage that it is; absent: a whole document. */
  readonly passageId?: string
  /** The citation's number, when it is one. */
  readonly n?: number
  /** The figure or table that it is, and what was seen in it when it was looked at. */
  readonly figure?: PassageFigure
  readonly said?: string
  /** Which of the answer's stops it is; absent: none. */
  readonly stop?: string
}

export const source = signal<Source | undefined>(undefined)

let opener: Element | null = null

const show = (next: Source): void => {
  if (source.value === undefined) opener = document.activeElement
  source.value = next
  // Both at once: the page need not wait for the text. Whoever shows it says what went wrong.
  if (next.page !== undefined) loadPage(next.collection, next.documentId, next.page).catch(() => undefined)
}

const pageOf = (page: number | undefined) => (page === undefined ? {} : { page })

/** That of the answer which is shown, else the one that is chosen. */
const here = (): string => current.value?.collection ?? collection.value

/** The look at a figure, where there was one. */
const lookAt = (figure: PassageFigure | undefined): Look | undefined =>
  figure?.crop === undefined
    ? undefined
    : current.value?.looks.find((look) => look.figure.crop === figure.crop && look.said !== "")

const ofCitation = (citation: Citation): Source => {
  const { figure } = citation
  const said = lookAt(figure)?.said
  return {
    collection: here(),
    documentId: citation.documentId,
    title: citation.title,
    headings: citation.headings,
    passageId: citation.passageId,
    mark: { start: citation.start, end: citation.end },
    boxes: citation.boxes,
    n: citation.n,
    stop: `citation ${citation.n}`,
    ...(figure !== undefined && { figure }),
    ...(said !== undefined && { said }),
    ...pageOf(citation.page)
  }
}

const ofLook = ({ documentId, document, figure, passageId, said }: Look): Source => {
  const passage = current.value?.passages.find((traced) => traced.passage.id === passageId)?.passage
  return {
    collection: here(),
    documentId,
    title: passage?.document.title ?? document,
    headings: passage?.headings ?? [],
    boxes:
      figure.page !== undefined && figure.box !== undefined ? [{ page: figure.page, box: figure.box }] : [],
    figure,
    passageId,
    stop: `figure ${passageId}`,
    ...(passage !== undefined && { mark: { start: passage.start, end: passage.end } }),
    ...(said !== "" && { said }),
    ...pageOf(figure.page)
  }
}

/** What an answer can be checked at, in order: its citations, then the figures that were looked at and not cited. */
export const stops = computed((): ReadonlyArray<Source> => {
  const { citations = [], looks = [] } = current.value ?? {}
  const cited = new Set(citations.map(({ passageId }) => passageId))
  return [...citations.map(ofCitation), ...looks.filter(({ passageId }) => !cited.has(passageId)).map(ofLook)]
})

/** Where else the answer's trace has found what the source says. */
export const copies = computed((): Trace["passages"] => {
  const shown = source.value?.passageId
  const traced = current.value?.passages ?? []
  const kept = traced.find(({ passage }) => passage.id === shown)?.sameAs ?? shown
  return traced.filter(
    ({ passage, sameAs }) =>
      kept !== undefined && passage.id !== shown && (sameAs === kept || passage.id === kept)
  )
})

export const openCitation = (citation: Citation): void => {
  show(ofCitation(citation))
  const what = citation.figure === undefined ? citation.quote : figureName(citation.figure)
  announce(`Citation ${citation.n}: ${citation.title}. ${what}`)
}

export const openLook = (look: Look): void => {
  show(ofLook(look))
  announce(`${figureName(look.figure)}: ${look.document}. ${look.said}`)
}

export const openPassage = ({ passage }: Trace["passages"][number]): void =>
  show({
    collection: here(),
    documentId: passage.document.id,
    title: passage.document.title,
    headings: passage.headings,
    passageId: passage.id,
    mark: { start: passage.start, end: passage.end },
    boxes: passage.lines,
    ...(passage.figure !== undefined && { figure: passage.figure }),
    ...pageOf(passage.page)
  })

export const openDocument = (document: { readonly id: string; readonly title: string }): void =>
  show({ collection: here(), documentId: document.id, title: document.title, headings: [], boxes: [] })

/** Closes and puts the focus back where it was. */
export const closeSource = (): void => {
  if (source.value === undefined) return
  source.value = undefined
  // Where the panel covered it, what lies behind takes no focus yet.
  document.querySelector(".behind")?.removeAttribute("inert")
  if (opener instanceof HTMLElement || opener instanceof SVGElement) opener.focus()
  opener = null
}

/** The next or the previous stop of the answer, around the end. */
export const stepCitation = (by: 1 | -1): void => {
  const all = stops.value
  if (all.length === 0) return
  const at = all.findIndex(({ stop }) => stop === source.value?.stop)
  const next = all[at === -1 ? (by === 1 ? 0 : all.length - 1) : (at + by + all.length) % all.length]
  if (next === undefined) return
  show(next)
  const what = next.n === undefined ? figureName(next.figure) : `Citation ${next.n}`
  announce(`${what}: ${next.title}. ${next.said ?? ""}`)
}

// Another question or another view closes what belonged to the last; so do the documents of another collection.
effect(() => {
  if (route.value.view === "documents") void collection.value
  source.value = undefined
})
