/** What a document format is: how its files are recognised, named, served and parsed. */
import type { Effect } from "effect"
import type { Parsed } from "../../document/Document.ts"
import { RagError, type RagReason } from "../../document/RagError.ts"
import type { PictureFile } from "./Pictures.ts"

/** Files larger than this (64 MiB) are refused before they are read: `parse` holds a file in memory. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024

/** A file to be parsed. */
export interface DocumentFile {
  readonly path: string
  readonly bytes: Uint8Array
  /** Reads a picture that lies beside the file. */
  readonly picture?: PictureFile | undefined
}

/**
 * A document format.
 *
 * **When to use.** Add one to `DocumentFormats` to have a program parse another kind of file.
 */
export interface DocumentFormat {
  /** Stored with every document, compared by filters and sent over HTTP: never change it. */
  readonly id: string
  /** For people: `PDF`, `Word`. */
  readonly label: string
  /** Endings of file names, in lower case, without the dot. */
  readonly extensions: ReadonlyArray<string>
  /** File names of this format whatever their ending, such as `README`. Checked before endings. */
  readonly fileNames?: RegExp
  /** The first is the content type with which originals are served. */
  readonly mediaTypes: ReadonlyArray<string>
  /**
   * What a file is by its first bytes, with an article ("a PNG image"), or undefined if it is not of this format.
   * `named` is true if the file's name says that it is. Text formats have no signature and leave this out.
   */
  readonly sniff?: (bytes: Uint8Array, named: boolean) => string | undefined
  /** Called with a file that is not empty and passes `sniff`. */
  readonly parse: (file: DocumentFile) => Effect.Effect<Parsed, RagError>
  /** Its documents may show pictures that lie in files of their own. Default false. */
  readonly showsPictures?: boolean
  /** Parsing is slow, or may give another result next time: the result is stored with the document. Default false. */
  readonly storesParsed?: boolean
}

/** A `RagError` of the stage `parse`; `message` is a sentence that follows the file's path. */
export const parseError = (path: string, reason: RagReason, message: string, cause?: unknown): RagError =>
  new RagError({
    stage: "parse",
    reason,
    message: `${path}: ${message}`,
    document: path,
    ...(cause !== undefined && { cause })
  })
