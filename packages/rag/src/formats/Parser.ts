/** Parses a file of any supported format. */
import { Effect } from "effect"
import type { Parsed } from "../document/Document.ts"
import type { RagError } from "../document/RagError.ts"
import { DocumentFormats, formatOf } from "./DocumentFormats.ts"
import {
  type DocumentFile,
  type DocumentFormat,
  hasSignature,
  MAX_FILE_BYTES,
  parseError
} from "./parsing/DocumentFormat.ts"
import { endingOf, titleFromPath } from "./parsing/FileName.ts"

type Formats = ReadonlyArray<DocumentFormat>

const tooLarge = (path: string, bytes: number): RagError =>
  parseError(
    path,
    "TooLarge",
    `the file has ${(bytes / 1048576).toFixed(0)} MiB; the limit is ${MAX_FILE_BYTES / 1048576} MiB. Split it into smaller files.`
  )

const empty = (path: string): RagError =>
  parseError(path, "Empty", "there is no text in this file. Add some, or leave the file out.")

/** Each format with its first extensions, such as `Word (.docx)`. */
const supported = (formats: Formats): string =>
  formats
    .map(({ extensions, label }) => {
      const endings = extensions.slice(0, 4).map((ending) => `.${ending}`)
      return `${label} (${endings.join(", ")}${extensions.length > endings.length ? ", …" : ""})`
    })
    .join(", ")

const UNSUPPORTED: ReadonlyArray<readonly [signature: string, name: string]> = [
  ["GIF8", "a GIF image"],
  ["II*\0", "a TIFF image"],
  ["MM\0*", "a TIFF image"],
  ["\x1F\x8B", "a gzip archive"],
  ["7z\xBC\xAF", "a 7-Zip archive"],
  ["\x7FELF", "a program"],
  ["{\\rtf", "an RTF document"]
]

/** Names a known format that is not supported. */
const unsupportedSignature = (bytes: Uint8Array): string | undefined =>
  hasSignature(bytes, "BM") && hasSignature(bytes, "\0\0\0\0", 6)
    ? "a BMP image"
    : UNSUPPORTED.find(([signature]) => hasSignature(bytes, signature))?.[1]

const contentOf = (bytes: Uint8Array, formats: Formats): string | undefined => {
  for (const { sniff } of formats) {
    const found = sniff?.(bytes, false)
    if (found !== undefined) return found
  }
  return unsupportedSignature(bytes)
}

/** The error if a file is not of the format of its name. */
const mismatch = (
  path: string,
  bytes: Uint8Array,
  { label, sniff }: DocumentFormat,
  formats: Formats
): RagError | undefined => {
  if (sniff?.(bytes, true) !== undefined) return undefined
  const found = contentOf(bytes, formats)
  if (found !== undefined) {
    const message = `the name says ${label}, but this is ${found}. Rename the file to the right ending.`
    return parseError(path, "Malformed", message)
  }
  if (sniff === undefined) return undefined
  return parseError(
    path,
    "Malformed",
    `not a valid ${label} file. Correct the file's ending, or download the file again.`
  )
}

const unsupported = (path: string, bytes: Uint8Array, formats: Formats): RagError => {
  const ending = endingOf(path)
  const found = contentOf(bytes, formats)
  const files = ending === "" ? "files without an ending" : `.${ending} files`
  const content = found === undefined ? "" : ` (this is ${found})`
  return parseError(
    path,
    "UnsupportedFormat",
    `${files} are not supported${content}. Convert the file to one of: ${supported(formats)}.`
  )
}

/**
 * Parses one file. The file name determines its format, and the first bytes must match.
 *
 * **Details.** Fails with `UnsupportedFormat`, `Malformed` (another format, damaged, undecodable), `Encrypted`, `Empty` or
 * `TooLarge`; each message says what to do. PDFs are parsed in worker threads. `path` determines the format, and the title if
 * the document has none. `picture` reads pictures beside an HTML or Markdown file; without it, and for pictures on the
 * network, figures have only captions. If a `Vision` with `read` is provided, text in pictures is part of the document's text.
 */
export const parse = Effect.fn("parse")(function* (file: DocumentFile) {
  const { bytes, path } = file
  const formats = yield* DocumentFormats
  const format = formatOf(path, formats)
  if (bytes.length > MAX_FILE_BYTES) return yield* tooLarge(path, bytes.length)
  if (format === undefined) return yield* unsupported(path, bytes, formats)
  if (bytes.length === 0) return yield* empty(path)
  const wrong = mismatch(path, bytes, format, formats)
  if (wrong !== undefined) return yield* wrong
  const parsed: Parsed = yield* format.parse(file)
  if (parsed.blocks.length === 0) return yield* empty(path)
  return parsed.title === "" ? { ...parsed, title: titleFromPath(path) } : parsed
})
