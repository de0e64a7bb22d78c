/** The format of records: documents that a program gives as text, or as passages of its own. Stored as JSON. */
import { Effect, Schema } from "effect"
import { type Block, type Parsed, type PassageSpan, TEXT_ONLY } from "../../document/Document.ts"
import { htmlFormat } from "../html/Html.ts"
import { markdownFormat } from "../markdown/Markdown.ts"
import { type DocumentFile, type DocumentFormat, parseError } from "../parsing/DocumentFormat.ts"
import { parsePlainText } from "../text/PlainText.ts"

const TEXT_FORMATS = ["text", "markdown", "html"] as const

/** How the text of a record is written. */
export type RecordTextFormat = (typeof TEXT_FORMATS)[number]

/** A passage of a record. A string is one without headings. */
const RecordPassage = Schema.Union([
  Schema.String,
  Schema.Struct({ text: Schema.String, headings: Schema.optionalKey(Schema.Array(Schema.String)) })
])
export type RecordPassage = typeof RecordPassage.Type

/** What is stored of a record, and read again by a rebuild. */
export const RecordContent = Schema.Struct({
  title: Schema.optional(Schema.String),
  text: Schema.optional(Schema.String),
  format: Schema.optional(Schema.Literals(TEXT_FORMATS)),
  passages: Schema.optional(Schema.Array(RecordPassage))
})
export type RecordContent = typeof RecordContent.Type

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(RecordContent))

/** The passages in a text, with a blank line between them. */
const parsePassages = (passages: ReadonlyArray<RecordPassage>): Parsed => {
  const spans: Array<PassageSpan> = []
  let text = ""
  for (const passage of passages) {
    const { headings = [], text: own } = typeof passage === "string" ? { text: passage } : passage
    if (own.trim() === "") continue
    if (text !== "") text += "\n\n"
    spans.push({ start: text.length, end: text.length + own.length, headings })
    text += own
  }
  const blocks = spans.map(({ end, start }): Block => ({ kind: "paragraph", start, end }))
  return { ...TEXT_ONLY, format: "record", title: "", text, blocks, passages: spans }
}

const parseText = (file: DocumentFile, text: string, format: RecordTextFormat) => {
  if (format === "text") return Effect.succeed(parsePlainText(text, "paragraph"))
  const { parse, parseWithoutMarkup = parse } = format === "html" ? htmlFormat : markdownFormat
  return parseWithoutMarkup({ ...file, bytes: new TextEncoder().encode(text) })
}

/** No file has this format by its name: it is given to the parser. */
export const recordFormat: DocumentFormat = {
  id: "record",
  label: "Record",
  extensions: [],
  mediaTypes: ["application/json"],
  parse: Effect.fnUntraced(function* (file) {
    const record = yield* decode(new TextDecoder().decode(file.bytes)).pipe(
      Effect.mapError((cause) => parseError(file.path, "Malformed", "the stored record is damaged.", cause))
    )
    const parsed =
      record.passages === undefined
        ? yield* parseText(file, record.text ?? "", record.format ?? "text")
        : parsePassages(record.passages)
    return { ...parsed, format: "record", title: record.title ?? parsed.title }
  })
}

/** The format to parse a stored document by, if its name does not say it. */
export const storedFormat = (format: string): string | undefined =>
  format === recordFormat.id ? format : undefined
