/** Any file that is read, to its text and blocks. */
import { Effect } from "effect"
import type { Format, Parsed } from "../Document.ts"
import { RagError, type RagReason } from "../RagError.ts"
import {
  endingOf,
  formatOf,
  looksLikeHtml,
  MAX_FILE_BYTES,
  sniff,
  textKindOf,
  titleFromPath
} from "./Format.ts"
import { parseHtml } from "./Html.ts"
import { parseMarkdown } from "./Markdown.ts"
import { parsePdf } from "./pdf/Pdf.ts"
import { parsePlainText } from "./PlainText.ts"
import { declaredCharset, decodeText } from "./TextDecoding.ts"

export { formatOf, MAX_FILE_BYTES } from "./Format.ts"

const fail = (path: string, reason: RagReason, message: string): RagError =>
  new RagError({ stage: "parse", reason, message: `${path}: ${message}`, document: path })

/** The error for a file above `MAX_FILE_BYTES` that was read all the same. */
const tooLarge = (path: string, bytes: number): RagError =>
  fail(
    path,
    "TooLarge",
    `${(bytes / 1048576).toFixed(0)} MiB is more than the ${MAX_FILE_BYTES / 1048576} MiB that one file may have. Split it into smaller files.`
  )

/** The error for a file whose name promises no format that is read. */
const unsupported = (path: string, found?: string): RagError => {
  const ending = endingOf(path)
  const what = found ?? (ending === "" ? "a file without an ending" : `a .${ending} file`)
  return fail(
    path,
    "UnsupportedFormat",
    `this is ${what}, which is not read. Markdown, HTML, plain text and PDF are: save or export it as one of these.`
  )
}

const empty = (path: string): RagError =>
  fail(path, "Empty", "there is no text in this file. Add some, or leave the file out.")

/** What the bytes are, against what the name says. */
const mismatch = (path: string, bytes: Uint8Array): RagError | undefined => {
  const format = formatOf(path)
  const found = sniff(bytes)
  if (found !== undefined && found !== "PDF") {
    return format === undefined
      ? unsupported(path, found)
      : fail(path, "Malformed", `the name says ${format}, but this is ${found}. Give it its right ending.`)
  }
  if (format === undefined) return unsupported(path)
  if (found === "PDF" && format !== "pdf") {
    return fail(path, "Malformed", `the name says ${format}, but this is a PDF. Rename it to end in .pdf.`)
  }
  if (found === undefined && format === "pdf") {
    return fail(
      path,
      "Malformed",
      "the name says PDF, but it does not begin as a PDF does. Give it its right ending, or fetch it again."
    )
  }
  return undefined
}

const parseText = (path: string, bytes: Uint8Array, format: Exclude<Format, "pdf">) => {
  if (format === "docx" || format === "image") return unsupported(path)
  const text = decodeText(bytes, format === "html" ? declaredCharset(bytes) : undefined)
  if (text === undefined) {
    return fail(
      path,
      "Malformed",
      `the name says ${format}, but the bytes are no readable text: binary data, or an unknown encoding. If it is text, save it as UTF-8.`
    )
  }
  if (format === "html") return parseHtml(text)
  const html = looksLikeHtml(text) && (format === "markdown" || endingOf(path) === "txt")
  if (html)
    return fail(
      path,
      "Malformed",
      `the name says ${format}, but this is an HTML page. Rename it to end in .html.`
    )
  return format === "markdown" ? parseMarkdown(text) : parsePlainText(text, textKindOf(path))
}

/**
 * Reads one file. The format is what the name says, checked against the bytes.
 *
 * Fails with `UnsupportedFormat`, `Malformed` (not what its name says, damaged, undecodable), `Encrypted`, `Empty` or
 * `TooLarge`; each message says what to do. Text formats are parsed here and now; PDFs in a worker thread, one at a
 * time. `path` is used for the format, for messages, and for the title when the document has none.
 */
export const parse = Effect.fn("parse")(function* (file: {
  readonly path: string
  readonly bytes: Uint8Array
}) {
  const { bytes, path } = file
  if (bytes.length > MAX_FILE_BYTES) return yield* tooLarge(path, bytes.length)
  const wrong = bytes.length === 0 && formatOf(path) !== undefined ? empty(path) : mismatch(path, bytes)
  if (wrong !== undefined) return yield* wrong
  const format = formatOf(path)!
  const parsed: Parsed | RagError =
    format === "pdf" ? yield* parsePdf(path, bytes) : parseText(path, bytes, format)
  if (parsed instanceof RagError) return yield* parsed
  if (parsed.blocks.length === 0) return yield* empty(path)
  return parsed.title === "" ? { ...parsed, title: titleFromPath(path) } : parsed
})
