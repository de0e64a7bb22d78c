/** What the formats in ZIP containers share: their first bytes, their pictures, and the old formats of Office. */
import { MAX_IMAGE_BYTES } from "@sluice/core/contract"
import { Effect } from "effect"
import type { Parsed } from "../../document/Document.ts"
import type { ParsedDraft } from "../parsing/Captions.ts"
import { type DocumentFormat, hasSignature } from "../parsing/DocumentFormat.ts"
import { FormatFault, malformed, passwordProtected, readWithFaults } from "../parsing/FormatFault.ts"
import { loadPictures } from "../parsing/Pictures.ts"
import { findAll, readTree } from "./Xml.ts"
import { ZipContainer } from "./ZipContainer.ts"

/** Signature of the container of older Office formats. */
const OLD_OFFICE = "\xD0\xCF\x11\xE0"

/** Encrypted documents are in a container of the old format. */
const isEncrypted = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes("EncryptedPackage", 0, "utf16le")

const sniff = (bytes: Uint8Array): string | undefined =>
  hasSignature(bytes, "PK\x03\x04")
    ? "a ZIP archive or an Office document"
    : hasSignature(bytes, OLD_OFFICE)
      ? "an old Office document"
      : undefined

/** Opens a document of Office. `old` says what to do with a file of the older format. */
export const openOffice = async (bytes: Uint8Array, old: string): Promise<ZipContainer> => {
  if (!hasSignature(bytes, OLD_OFFICE)) return ZipContainer.open(bytes)
  throw isEncrypted(bytes) ? passwordProtected() : malformed(old)
}

/** The bytes of a picture, or the end of a sentence that says why it has none. */
export const pictureOf = (
  from: ZipContainer,
  reference: string
): Effect.Effect<Uint8Array | string | undefined> =>
  Effect.tryPromise(() => from.bytes(reference, MAX_IMAGE_BYTES)).pipe(
    Effect.map((bytes) => bytes ?? "is not in the document, or has more than 20 MB"),
    Effect.catch(({ cause }) =>
      Effect.succeed(cause instanceof FormatFault ? `is not read: ${cause.message}` : "is damaged")
    )
  )

/** The title in a part with properties, on one line; empty if there is none. */
export const readTitle = async (from: ZipContainer, part = ""): Promise<string> => {
  const [title] = findAll(await readTree(from.read(part)), ["dc:title"])
  return title?.text.replace(/\s+/g, " ").trim() ?? ""
}

/** A format of documents in a ZIP container, which has their pictures. `read` may throw a `FormatFault`. */
export const officeFormat = (
  about: Pick<DocumentFormat, "id" | "label" | "extensions" | "mediaTypes">,
  read: (bytes: Uint8Array) => Promise<{ from: ZipContainer; draft: Parsed & Partial<ParsedDraft> }>
): DocumentFormat => ({
  ...about,
  sniff,
  parse: Effect.fnUntraced(function* ({ bytes, path }) {
    const { draft, from } = yield* readWithFaults(path, () => read(bytes))
    return yield* loadPictures(draft, (reference) => pictureOf(from, reference))
  }),
  inflates: true,
  storesParsed: true
})
