/** A parsed file cut into passages: everything that will be stored of it except the vectors. */
import { Vision } from "@sluice/core"
import { Effect, Option } from "effect"
import { chunk } from "../chunking/Chunker.ts"
import type {
  DocumentInfo,
  Figure,
  LinkedPicture,
  Metadata,
  Parsed,
  Passage,
  ReadFault
} from "../document/Document.ts"
import { documentId, sha256 } from "../document/Hash.ts"
import { embeddedText, mentionsOf } from "../document/SearchText.ts"
import type { PassageText } from "../embedding/EmbeddingCalls.ts"
import { DocumentFormats } from "../formats/DocumentFormats.ts"
import type { IndexedDocument } from "../store/PassageIndex.ts"
import { describeFigures } from "./DescribeFigures.ts"
import { encodeParsed } from "./ParsedCodec.ts"

/** Faults that a document's row lists. A damaged book has a fault on each page. */
const MAX_FAULTS = 100

interface ChunkedPassage extends PassageText {
  readonly passage: Passage
}

export interface ChunkedDocument extends Omit<IndexedDocument, "passages" | "replaces"> {
  readonly passages: ReadonlyArray<ChunkedPassage>
}

interface OriginalFile {
  readonly path: string
  readonly source: string
  readonly original: Uint8Array
  readonly sha256: string
  readonly metadata: Metadata | undefined
  readonly pictures?: ReadonlyArray<LinkedPicture> | undefined
}

/** Cuts a parsed file into passages. Crops, and the parse itself if repeating it would cost, become attachments. */
export const chunkDocument = Effect.fn("ChunkedDocument.chunk")(function* (
  { metadata, original, path, pictures, sha256: hash, source }: OriginalFile,
  parsed: Parsed
) {
  const attachments = new Map<string, Uint8Array>()
  const figures = new Set<Figure>()
  const chunks = chunk(parsed).map((passage) => {
    const figure = passage.figure && figureOf(parsed, passage)
    if (figure !== undefined) figures.add(figure)
    return { passage: withCrop(passage, figure, attachments), figure }
  })
  const descriptions = yield* describeFigures(
    chunks.flatMap(({ passage }) => passage.figure ?? []),
    attachments
  )
  const passages = chunks.map(({ figure, passage: chunk }): ChunkedPassage => {
    const context = [
      figure === undefined ? "" : mentionsOf(parsed, figure),
      descriptions.get(chunk.figure?.crop ?? "") ?? ""
    ].filter((text) => text !== "")
    const passage =
      chunk.figure === undefined || context.length === 0
        ? chunk
        : { ...chunk, figure: { ...chunk.figure, said: context.join("\n") } }
    const text = embeddedText(parsed.title, passage)
    return { passage, text, hash: sha256(text) }
  })
  const encoded = (yield* storesParse(parsed)) ? yield* encodeParsed(parsed) : undefined
  const reading = encoded && sha256(encoded)
  if (encoded !== undefined && reading !== undefined) attachments.set(reading, encoded)
  const info: DocumentInfo = {
    id: documentId(path),
    path,
    title: parsed.title,
    format: parsed.format,
    bytes: original.byteLength,
    sha256: hash,
    passages: passages.length,
    ...(parsed.pages.length > 0 ? { pages: parsed.pages.length } : {}),
    ...(figures.size > 0 ? { figures: figures.size } : {}),
    ...(parsed.faults.length > 0 ? { faults: limitFaults(parsed.faults) } : {}),
    ...(metadata === undefined ? {} : { metadata })
  }
  const document: ChunkedDocument = { info, source, original, attachments, reading, pictures, passages }
  return document
})

/** The figure that a passage was cut from. A heading may precede it in the passage; figures of one caption overlap. */
const figureOf = (parsed: Parsed, { end, figure: own, start }: Passage): Figure | undefined => {
  const overlapping = parsed.figures.filter((figure) => figure.start < end && start < figure.end)
  return (
    overlapping.find(
      ({ kind, number, page }) => kind === own?.kind && number === own.number && page === own.page
    ) ?? overlapping[0]
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
 * Whether to store the parse. Text formats are parsed again at once; pages need a worker, linked pictures may be deleted,
 * and a vision model may read an image differently next time.
 */
const storesParse = (parsed: Parsed): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    const vision = yield* Effect.serviceOption(Vision)
    const format = (yield* DocumentFormats).find(({ id }) => id === parsed.format)
    return (
      format?.storesParsed === true ||
      parsed.figures.some(({ crop }) => crop !== undefined) ||
      (parsed.figures.length > 0 && Option.isSome(vision))
    )
  })

const limitFaults = (faults: ReadonlyArray<ReadFault>): ReadonlyArray<ReadFault> =>
  faults.length <= MAX_FAULTS
    ? faults
    : [
        ...faults.slice(0, MAX_FAULTS),
        { message: `${faults.length - MAX_FAULTS} more faults are not listed.` }
      ]
