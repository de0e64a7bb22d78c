/** A parsed file cut into passages: everything that will be stored of it except the vectors. */
import { Effect, Number } from "effect"
import { type ChunkedParse, type ChunkedPassage, withText } from "../chunking/ChunkedParse.ts"
import { type DocumentInfo, firstFaults, type LinkedPicture, type Metadata } from "../document/Document.ts"
import { documentId } from "../document/Hash.ts"
import type { IndexedDocument } from "../store/PassageIndex.ts"
import { describeFigures } from "./DescribeFigures.ts"

/** Faults that a document's row lists. A damaged book has a fault on each page. */
const MAX_FAULTS = 100

export interface ChunkedDocument extends Omit<IndexedDocument, "passages" | "replaces"> {
  readonly passages: ReadonlyArray<ChunkedPassage>
}

interface OriginalFile {
  readonly path: string
  readonly source: string
  readonly original: Uint8Array
  readonly sha256: string
  readonly version?: string | undefined
  readonly metadata: Metadata | undefined
  readonly url?: string | undefined
  readonly pictures?: ReadonlyArray<LinkedPicture> | undefined
}

/** The document of a file and its passages, with the descriptions of its figures. */
export const chunkedDocument = Effect.fn("ChunkedDocument.make")(function* (
  { metadata, original, path, pictures, sha256: hash, source, url, version }: OriginalFile,
  { attachments, faults, figures, format, pages, reading, title, ...chunked }: ChunkedParse
) {
  const descriptions = yield* describeFigures(
    chunked.passages.flatMap(({ passage }) => passage.figure ?? []),
    attachments
  )
  const passages =
    descriptions.size === 0
      ? chunked.passages
      : chunked.passages.map((chunk): ChunkedPassage => {
          const { figure } = chunk.passage
          const description = descriptions.get(figure?.crop ?? "")
          if (figure === undefined || description === undefined) return chunk
          const said = [figure.said, description].filter((text) => text !== undefined).join("\n")
          return withText(title, { ...chunk.passage, figure: { ...figure, said } })
        })
  const attachmentBytes = Number.sumAll(Array.from(attachments.values(), (bytes) => bytes.byteLength))
  const info: DocumentInfo = {
    id: documentId(path),
    path,
    title,
    format,
    bytes: original.byteLength,
    sha256: hash,
    passages: passages.length,
    ...(pages > 0 ? { pages } : {}),
    ...(figures > 0 ? { figures } : {}),
    ...(faults.length > 0 ? { faults: firstFaults(faults, MAX_FAULTS, "faults are not listed") } : {}),
    ...(url === undefined ? {} : { url }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(attachmentBytes > 0 ? { attachmentBytes } : {})
  }
  const kept = { source, version, reading, pictures }
  const document: ChunkedDocument = { info, ...kept, original, attachments, passages }
  return document
})
