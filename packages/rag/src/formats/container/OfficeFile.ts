/** What the formats in ZIP containers share: their first bytes, their pictures, and the old formats of Office. */
import { MAX_IMAGE_BYTES } from "@sluice/core/contract"
import { Effect } from "effect"
import { hasSignature } from "../parsing/DocumentFormat.ts"
import { FormatFault, malformed, passwordProtected } from "../parsing/FormatFault.ts"
import { ZipContainer } from "./ZipContainer.ts"

/** Signature of the container of older Office formats. */
const OLD_OFFICE = "\xD0\xCF\x11\xE0"

/** Encrypted documents are in a container of the old format. */
const isEncrypted = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes("EncryptedPackage", 0, "utf16le")

/** The `sniff` of a format in a ZIP container. */
export const sniffOffice = (bytes: Uint8Array): string | undefined =>
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
