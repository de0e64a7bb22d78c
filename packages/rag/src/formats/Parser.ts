/** Any file that is read, to its text and blocks. */
import { Effect } from "effect"
import type { Format, Parsed } from "../document/Document.ts"
import { RagError, type RagReason } from "../document/RagError.ts"
import {
  endingOf,
  formatOf,
  looksLikeHtml,
  MAX_FILE_BYTES,
  OLD_OFFICE,
  signatureOf,
  sniff,
  textKindOf,
  titleFromPath
} from "./parsing/Format.ts"
import { parseDocx } from "./docx/Docx.ts"
import { parseHtml } from "./html/Html.ts"
import { parseImage } from "./image/Image.ts"
import { parseMarkdown } from "./markdown/Markdown.ts"
import { parsePdf } from "./pdf/Pdf.ts"
import { illustrate, type PictureFile } from "./parsing/Pictures.ts"
import { parsePlainText } from "./text/PlainText.ts"
import { declaredCharset, decodeText } from "./parsing/TextDecoding.ts"

export { formatOf, MAX_FILE_BYTES } from "./parsing/Format.ts"
export type { PictureFile } from "./parsing/Pictures.ts"

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
    `this is ${what}, which is not read. Markdown, HTML, plain text, PDF, Word documents (.docx) and PNG, JPEG and WebP images are: save or export it as one of these.`
  )
}

const empty = (path: string): RagError =>
  fail(path, "Empty", "there is no text in this file. Add some, or leave the file out.")

/** How the bytes of a format are spoken of, with an ending that says so. */
const SPOKEN: Record<"pdf" | "docx" | "image", readonly [name: string, whole: string]> = {
  pdf: ["PDF", "a PDF"],
  docx: ["Word document", "a Word document"],
  image: ["image", "a PNG, JPEG or WebP image"]
}

/** Word puts an encrypted document into a container of the old format. */
const isEncrypted = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes("EncryptedPackage", 0, "utf16le")

/** What the bytes are, against what the name says. */
const mismatch = (path: string, bytes: Uint8Array): RagError | undefined => {
  const format = formatOf(path)
  const found = sniff(bytes, format)
  if (format === undefined) return unsupported(path, found === "PDF" ? undefined : found)
  const due = signatureOf(format)
  if (found !== undefined && due?.test(found) === true) return undefined
  if (format === "docx" && found === OLD_OFFICE) {
    return isEncrypted(bytes)
      ? fail(path, "Encrypted", "this document wants a password. Save it in Word without one.")
      : fail(
          path,
          "Malformed",
          "the name says docx, but this is a document of an old format. Save it in Word as .docx."
        )
  }
  if (found === "PDF") {
    return fail(path, "Malformed", `the name says ${format}, but this is a PDF. Rename it to end in .pdf.`)
  }
  if (found !== undefined) {
    return fail(path, "Malformed", `the name says ${format}, but this is ${found}. Give it its right ending.`)
  }
  if (due === undefined) return undefined
  const [name, whole] = SPOKEN[format as keyof typeof SPOKEN]
  return fail(
    path,
    "Malformed",
    `the name says ${name}, but it does not begin as ${whole} does. Give it its right ending, or fetch it again.`
  )
}

const parseText = (path: string, bytes: Uint8Array, format: "markdown" | "html" | "text") => {
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

/** Reads a file that is what its name says. */
const parseFormat = Effect.fnUntraced(function* (
  path: string,
  bytes: Uint8Array,
  format: Format,
  picture: PictureFile | undefined
) {
  switch (format) {
    case "pdf":
      return yield* parsePdf(path, bytes)
    case "docx":
      return yield* parseDocx(path, bytes)
    case "image": {
      const image = yield* parseImage(path, bytes)
      if (!("reason" in image)) return image
      return yield* fail(path, image.reason, `${image.message}. Export it again, or make it smaller.`)
    }
    default: {
      const parsed = parseText(path, bytes, format)
      if (parsed instanceof RagError) return yield* parsed
      return yield* illustrate(parsed, picture)
    }
  }
})

/**
 * Reads one file. The format is what the name says, checked against the bytes.
 *
 * Fails with `UnsupportedFormat`, `Malformed` (not what its name says, damaged, undecodable), `Encrypted`, `Empty` or
 * `TooLarge`; each message says what to do. Text formats are parsed here and now; PDFs in worker threads. `path` is used
 * for the format, for messages, and for the title when the document has none. `picture` gives pictures that lie beside
 * an HTML or Markdown file; without it, and for those on the network, figures have their captions alone. Where a `Vision`
 * is provided that offers `read`, what is written in pictures is part of the text.
 */
export const parse = Effect.fn("parse")(function* (file: {
  readonly path: string
  readonly bytes: Uint8Array
  readonly picture?: PictureFile | undefined
}) {
  const { bytes, path, picture } = file
  if (bytes.length > MAX_FILE_BYTES) return yield* tooLarge(path, bytes.length)
  const wrong = bytes.length === 0 && formatOf(path) !== undefined ? empty(path) : mismatch(path, bytes)
  if (wrong !== undefined) return yield* wrong
  const parsed: Parsed = yield* parseFormat(path, bytes, formatOf(path)!, picture)
  if (parsed.blocks.length === 0) return yield* empty(path)
  return parsed.title === "" ? { ...parsed, title: titleFromPath(path) } : parsed
})
