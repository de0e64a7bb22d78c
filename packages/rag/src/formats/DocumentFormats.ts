/** The registry of document formats. */
import { Context, Effect } from "effect"
import { csvFormat } from "./csv/Csv.ts"
import { docxFormat } from "./docx/Docx.ts"
import { epubFormat } from "./epub/Epub.ts"
import { htmlFormat } from "./html/Html.ts"
import { imageFormat } from "./image/Image.ts"
import { jsonLinesFormat } from "./jsonl/JsonLines.ts"
import { mailFormat } from "./mail/Mail.ts"
import { markdownFormat } from "./markdown/Markdown.ts"
import type { DocumentFormat } from "./parsing/DocumentFormat.ts"
import { baseName, endingOf } from "./parsing/FileName.ts"
import { notebookFormat } from "./notebook/Notebook.ts"
import { odtFormat } from "./odt/Odt.ts"
import { pdfFormat } from "./pdf/Pdf.ts"
import { recordFormat } from "./record/Record.ts"
import { slidesFormat } from "./slides/Slides.ts"
import { spreadsheetFormat } from "./spreadsheet/Spreadsheet.ts"
import { subtitlesFormat } from "./subtitles/Subtitles.ts"
import { textFormat } from "./text/PlainText.ts"
import { zipFormat } from "./zip/Zip.ts"

/** The built-in formats. */
export const documentFormats: ReadonlyArray<DocumentFormat> = [
  markdownFormat,
  htmlFormat,
  textFormat,
  pdfFormat,
  docxFormat,
  odtFormat,
  slidesFormat,
  spreadsheetFormat,
  csvFormat,
  epubFormat,
  mailFormat,
  notebookFormat,
  subtitlesFormat,
  jsonLinesFormat,
  zipFormat,
  imageFormat
]

/**
 * The formats that a program parses. The default is `documentFormats`.
 *
 * **Details.** If two formats match a file name, the first is used. A library uses the formats of the context in which it is
 * opened.
 *
 * ```ts
 * Layer.provide(Layer.succeed(DocumentFormats, [...documentFormats, lyrics]))
 * ```
 */
export const DocumentFormats = Context.Reference<ReadonlyArray<DocumentFormat>>(
  "@sluice/rag/DocumentFormats",
  { defaultValue: () => documentFormats }
)

/** The identifiers of the formats that documents may have: the registered ones, and records. */
export const storedFormats = Effect.map(DocumentFormats, (formats) => [
  ...formats.map(({ id }) => id),
  recordFormat.id
])

/** The names of the files of a format. */
export type FormatNames = Pick<DocumentFormat, "id" | "extensions" | "fileNames">

/** The first format that a file name matches. */
export const formatNamed = <Format extends FormatNames>(
  path: string,
  formats: ReadonlyArray<Format>
): Format | undefined => {
  const name = baseName(path)
  const ending = endingOf(path)
  return (
    formats.find(({ fileNames }) => fileNames?.test(name)) ??
    formats.find(({ extensions }) => extensions.includes(ending))
  )
}

/** The format of a file by its name, or undefined if it is not supported. */
export const formatOf = (
  path: string,
  formats: ReadonlyArray<DocumentFormat> = documentFormats
): DocumentFormat | undefined => formatNamed(path, formats)
