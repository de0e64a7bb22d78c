/** Parses a file of any supported format. */
import { Effect } from "effect"
import type { Parsed } from "../document/Document.ts"
import type { RagError } from "../document/RagError.ts"
import { DocumentFormats, formatOf } from "./DocumentFormats.ts"
import { recordFormat } from "./record/Record.ts"
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

/** Each format with its first extension, such as `Word (.docx)`. */
const supported = (formats: Formats): string =>
  formats.map(({ extensions, label }) => `${label} (.${extensions[0]})`).join(", ")

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

/** The format of a file, whose first bytes match it. */
export const checkFormat = Effect.fnUntraced(function* ({ bytes, format: given, path }: DocumentFile) {
  const formats = yield* DocumentFormats
  const format =
    given === undefined ? formatOf(path, formats) : [recordFormat, ...formats].find(({ id }) => id === given)
  if (bytes.length > MAX_FILE_BYTES) return yield* tooLarge(path, bytes.length)
  if (format === undefined) return yield* unsupported(path, bytes, formats)
  if (bytes.length === 0) return yield* empty(path)
  const wrong = mismatch(path, bytes, format, formats)
  return wrong === undefined ? format : yield* wrong
})

/** Characters of a title or heading: each passage below has a copy. */
const MAX_HEADING = 300
/** Blocks of a file. A book of 1,000 pages has 20,000. */
const MAX_BLOCKS = 500_000

/** Parses a file whose format is checked, in this thread, and applies the limits that all formats have. */
export const parseHere = Effect.fnUntraced(function* (format: DocumentFormat, file: DocumentFile) {
  const { path } = file
  const parsed: Parsed = yield* format.parse(file)
  if (parsed.blocks.length === 0) return yield* empty(path)
  if (parsed.blocks.length > MAX_BLOCKS) {
    const message = `the file has ${parsed.blocks.length} blocks of text; the limit is ${MAX_BLOCKS}. Split it.`
    return yield* parseError(path, "TooLarge", message)
  }
  const blocks = parsed.blocks.map((block) =>
    (block.heading?.length ?? 0) > MAX_HEADING
      ? { ...block, heading: block.heading!.slice(0, MAX_HEADING).toWellFormed() }
      : block
  )
  const title = (parsed.title || titleFromPath(path)).slice(0, MAX_HEADING).toWellFormed()
  return { ...parsed, title, blocks }
})
