/** Documents, pages and blocks as they travel: the values of `@sluice/rag` as schemas. */
import { Schema } from "effect"
import type * as Rag from "@sluice/rag"

export const Format = Schema.Literals(["markdown", "html", "text", "pdf", "docx", "image"])

const span = { start: Schema.Int, end: Schema.Int }

/** `[x0, y0, x1, y1]` in PDF points, y from the top of the page. */
export const Box: Schema.Codec<Rag.Box> = Schema.Tuple([
  Schema.Finite,
  Schema.Finite,
  Schema.Finite,
  Schema.Finite
])

export const Block = Schema.Struct({
  ...span,
  kind: Schema.Literals(["heading", "paragraph", "list", "table", "code", "figure"]),
  level: Schema.optionalKey(Schema.Int),
  heading: Schema.optionalKey(Schema.String)
})

export const Page = Schema.Struct({
  ...span,
  number: Schema.Int,
  width: Schema.Finite,
  height: Schema.Finite
})

export const Line = Schema.Struct({ ...span, page: Schema.Int, box: Box })

/** What of a document could not be read; the rest was. */
export const ReadFault = Schema.Struct({
  page: Schema.optionalKey(Schema.Int),
  message: Schema.String
})

/** What was attached at the upload, to filter by: any JSON object. */
export const Metadata: Schema.Codec<Rag.Metadata> = Schema.Record(Schema.String, Schema.Json)

/** A document of the library. `id` names it in paths; `path` names it to people. */
export const DocumentInfo = Schema.Struct({
  id: Schema.String,
  path: Schema.String,
  title: Schema.String,
  format: Format,
  bytes: Schema.Int,
  sha256: Schema.String,
  passages: Schema.Int,
  pages: Schema.optionalKey(Schema.Int),
  /** Figures and tables in it; absent: none. */
  figures: Schema.optionalKey(Schema.Int),
  /** Absent: all of it was read. */
  faults: Schema.optionalKey(Schema.Array(ReadFault)),
  metadata: Schema.optionalKey(Metadata)
})

/** A document and what its parser read. All offsets are UTF-16 code units into `text`. */
export const DocumentText = Schema.Struct({
  document: DocumentInfo,
  text: Schema.String,
  blocks: Schema.Array(Block),
  pages: Schema.Array(Page)
})

/** One page: its own text, and the lines with their boxes. Offsets refer to the document's text. */
export const PageText = Schema.Struct({
  ...span,
  number: Schema.Int,
  width: Schema.Finite,
  height: Schema.Finite,
  text: Schema.String,
  lines: Schema.Array(Line)
})

export type DocumentInfo = typeof DocumentInfo.Type
export type DocumentText = typeof DocumentText.Type
export type PageText = typeof PageText.Type
