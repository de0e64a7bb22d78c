/** The interface of a document format: how its files are recognized, named, served and parsed. */
import type { Effect } from "effect"
import type { Parsed } from "../../document/Document.ts"
import { RagError, type RagReason } from "../../document/RagError.ts"
import type { PictureFile } from "./Pictures.ts"

/** Larger files are rejected before they are read, since `parse` holds a file in memory: 64 MiB. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024

/** A file to be parsed. */
export interface DocumentFile {
  readonly path: string
  readonly bytes: Uint8Array
  /** The identifier of its format, if the path does not say it. */
  readonly format?: string | undefined
  /** Reads a picture file that the document refers to. */
  readonly picture?: PictureFile | undefined
  /** Parses a file inside this one by the format of its name: an attachment, a file of an archive. */
  readonly parseInner?: ((file: InnerFile) => Effect.Effect<Parsed, RagError>) | undefined
}

/** A file inside a file. */
export type InnerFile = Pick<DocumentFile, "path" | "bytes" | "picture">

/**
 * A document format.
 *
 * **When to use.** Add one to `DocumentFormats` to have a program parse another kind of file.
 */
export interface DocumentFormat {
  /** Stored with every document, compared by filters and sent over HTTP: never change it. */
  readonly id: string
  /** Recorded in the manifests of collections. Change it if documents are to be parsed again by a rebuild. */
  readonly version?: string
  /** Display name: `PDF`, `Word`. */
  readonly label: string
  /** File extensions in lower case, without the dot. */
  readonly extensions: ReadonlyArray<string>
  /** File names of this format with any extension, such as `README`. Checked before extensions. */
  readonly fileNames?: RegExp
  /** The first is the content type of originals. */
  readonly mediaTypes: ReadonlyArray<string>
  /**
   * Names a file of this format by its first bytes, with an article ("a PNG image"); undefined for others. `named` is true
   * if the file name is of this format. Text formats have no signature, and omit this.
   */
  readonly sniff?: (bytes: Uint8Array, named: boolean) => string | undefined
  /** Called with a nonempty file that passes `sniff`. */
  readonly parse: (file: DocumentFile) => Effect.Effect<Parsed, RagError>
  /** `parse` for a file inside another one, if `parse` keeps markup in the text. */
  readonly parseWithoutMarkup?: (file: DocumentFile) => Effect.Effect<Parsed, RagError>
  /** Whether documents may refer to picture files. Default false. */
  readonly showsPictures?: boolean
  /** Whether a small file may hold much text, so that each is parsed in a thread. Default false. */
  readonly inflates?: boolean
  /** Whether to store the result with the document, because parsing is slow or not deterministic. Default false. */
  readonly storesParsed?: boolean
}

/** A `RagError` of the stage `parse`. `message` is a sentence; the path is added before it. */
export const parseError = (path: string, reason: RagReason, message: string, cause?: unknown): RagError =>
  new RagError({
    stage: "parse",
    reason,
    message: `${path}: ${message}`,
    document: path,
    ...(cause !== undefined && { cause })
  })

/** Whether `signature`, one byte a character, is at offset `at`. */
export const hasSignature = (bytes: Uint8Array, signature: string, at = 0): boolean => {
  for (let i = 0; i < signature.length; i++) {
    if (bytes[at + i] !== signature.charCodeAt(i)) return false
  }
  return true
}
