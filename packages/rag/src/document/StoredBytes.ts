/** What documents take of a library's storage. */
import type { DocumentInfo } from "./Document.ts"

/** A passage's vector, text and index, on average. */
const PASSAGE_BYTES = 8 * 1024

type Sizes = Pick<DocumentInfo, "attachmentBytes" | "bytes" | "passages">

/** What a document takes beyond its file. */
export const parsedBytesOf = ({ attachmentBytes = 0, passages }: Sizes): number =>
  attachmentBytes + passages * PASSAGE_BYTES

/** Bytes of the documents' files, attachments, passages and vectors. */
export const storedBytesOf = (documents: ReadonlyArray<Sizes>): number =>
  documents.reduce((sum, document) => sum + document.bytes + parsedBytesOf(document), 0)
