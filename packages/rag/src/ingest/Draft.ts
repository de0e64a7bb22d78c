/** A file that was read and cut, with all that will be stored of it except its vectors. */
import { Effect, Option } from "effect"
import { Vision } from "@sluice/core"
import { chunk } from "../chunking/Chunker.ts"
import { DocumentFormats } from "../formats/DocumentFormats.ts"
import { describeFigures } from "./DescribeFigures.ts"
import type {
  DocumentInfo,
  Figure,
  Metadata,
  Parsed,
  Passage,
  PictureBeside,
  ReadFault
} from "../document/Document.ts"
import { sha256 } from "../embedding/PassageEmbedder.ts"
import type { IndexedDocument } from "../store/PassageIndex.ts"
import { embeddedText, mentionsOf } from "../document/SearchText.ts"
import { encodeReading } from "./StoredReading.ts"

/** What a document's row tells of what could not be read; a damaged book has a fault on each of its pages. */
const FAULTS_AT_MOST = 100

/** 128 bits of the hash of a document's path: nothing in it needs quoting. */
export const documentId = (path: string): string => sha256(path).slice(0, 32)

/** A passage and what is embedded for it; `hash` is the SHA-256 of `text`. */
export interface DraftPassage {
  readonly passage: Passage
  readonly hash: string
  readonly text: string
}

export interface Draft extends Omit<IndexedDocument, "passages" | "replaces"> {
  readonly passages: ReadonlyArray<DraftPassage>
}

/** What is known of a file besides its content. */
export interface DraftFile {
  readonly path: string
  readonly source: string
  readonly original: Uint8Array
  readonly sha256: string
  readonly metadata: Metadata | undefined
  readonly pictures?: ReadonlyArray<PictureBeside> | undefined
}

/** Cuts what was read into passages; crops and, where reading again would cost, the reading become attachments. */
export const draftOf = Effect.fn("Draft.of")(function* (file: DraftFile, parsed: Parsed) {
  const attachments = new Map<string, Uint8Array>()
  const figures = new Set<Figure>()
  const cuts = chunk(parsed).map((cut) => {
    const figure = cut.figure && figureOf(parsed, cut)
    if (figure !== undefined) figures.add(figure)
    return { passage: withCrop(cut, figure, attachments), figure }
  })
  const described = yield* describeFigures(
    cuts.flatMap(({ passage }) => passage.figure ?? []),
    attachments
  )
  const passages = cuts.map(({ figure, passage: cut }): DraftPassage => {
    const said = [
      figure === undefined ? "" : mentionsOf(parsed, figure),
      described.get(cut.figure?.crop ?? "") ?? ""
    ].filter((text) => text !== "")
    const passage =
      cut.figure === undefined || said.length === 0
        ? cut
        : { ...cut, figure: { ...cut.figure, said: said.join("\n") } }
    const text = embeddedText(parsed.title, passage)
    return { passage, text, hash: sha256(text) }
  })
  const stored = (yield* isWorthStoring(parsed)) ? yield* encodeReading(parsed) : undefined
  const reading = stored && sha256(stored)
  if (stored !== undefined && reading !== undefined) attachments.set(reading, stored)
  const info: DocumentInfo = {
    id: documentId(file.path),
    path: file.path,
    title: parsed.title,
    format: parsed.format,
    bytes: file.original.byteLength,
    sha256: file.sha256,
    passages: passages.length,
    ...(parsed.pages.length > 0 ? { pages: parsed.pages.length } : {}),
    ...(figures.size > 0 ? { figures: figures.size } : {}),
    ...(parsed.faults.length > 0 ? { faults: listed(parsed.faults) } : {}),
    ...(file.metadata === undefined ? {} : { metadata: file.metadata })
  }
  const { original, pictures, source } = file
  const draft: Draft = { info, source, original, attachments, reading, pictures, passages }
  return draft
})

/** The figure that a passage was cut from. A heading may stand before it; figures that share a caption overlap. */
const figureOf = (parsed: Parsed, { end, figure: made, start }: Passage): Figure | undefined => {
  const around = parsed.figures.filter((figure) => figure.start < end && start < figure.end)
  return (
    around.find(
      ({ kind, number, page }) => kind === made?.kind && number === made.number && page === made.page
    ) ?? around[0]
  )
}

const withCrop = (
  passage: Passage,
  figure: Figure | undefined,
  attachments: Map<string, Uint8Array>
): Passage => {
  if (passage.figure === undefined || figure?.crop === undefined) return passage
  const crop = sha256(figure.crop)
  attachments.set(crop, figure.crop)
  return { ...passage, figure: { ...passage.figure, crop } }
}

/**
 * Text formats are read again in a moment; pages take a worker, pictures beside a file may be gone, and what a model has
 * read may be read otherwise next time.
 */
const isWorthStoring = (parsed: Parsed): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    const vision = yield* Effect.serviceOption(Vision)
    const format = (yield* DocumentFormats).find(({ id }) => id === parsed.format)
    return (
      format?.storesParsed === true ||
      parsed.figures.some(({ crop }) => crop !== undefined) ||
      (parsed.figures.length > 0 && Option.isSome(vision))
    )
  })

const listed = (faults: ReadonlyArray<ReadFault>): ReadonlyArray<ReadFault> =>
  faults.length <= FAULTS_AT_MOST
    ? faults
    : [
        ...faults.slice(0, FAULTS_AT_MOST),
        { message: `${faults.length - FAULTS_AT_MOST} more faults are left out here.` }
      ]
