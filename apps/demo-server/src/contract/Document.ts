/** Documents, pages and blocks in requests and responses. The types are those of `@sluice/rag`. */
import type * as Rag from "@sluice/rag"
import { Schema } from "effect"

export type { Block, DocumentInfo, Line, Metadata } from "@sluice/rag"

const span = { start: Schema.Int, end: Schema.Int }

/** `[x0, y0, x1, y1]` in PDF points, y from the top of the page. */
export const BoxSchema: Schema.Codec<Rag.Box> = Schema.Tuple([
  Schema.Finite,
  Schema.Finite,
  Schema.Finite,
  Schema.Finite
])

const BlockSchema: Schema.Codec<Rag.Block> = Schema.Struct({
  ...span,
  kind: Schema.Literals(["heading", "paragraph", "list", "table", "code", "figure"]),
  level: Schema.optionalKey(Schema.Int),
  heading: Schema.optionalKey(Schema.String)
})

const page = { ...span, number: Schema.Int, width: Schema.Finite, height: Schema.Finite }

export const LineSchema: Schema.Codec<Rag.Line> = Schema.Struct({ ...span, page: Schema.Int, box: BoxSchema })

/** A page or picture that could not be read. The rest of the document was read. */
export const ReadFaultSchema: Schema.Codec<Rag.ReadFault> = Schema.Struct({
  page: Schema.optionalKey(Schema.Int),
  message: Schema.String
})

/** A document of the library. `id` identifies it in paths; `path` is shown to people. */
export const DocumentInfoSchema: Schema.Codec<Rag.DocumentInfo> = Schema.Struct({
  id: Schema.String,
  path: Schema.String,
  title: Schema.String,
  /** Identifier of its format, one of those of `GET /status`. */
  format: Schema.String,
  bytes: Schema.Int,
  sha256: Schema.String,
  passages: Schema.Int,
  pages: Schema.optionalKey(Schema.Int),
  /** Number of figures and tables; absent: none. */
  figures: Schema.optionalKey(Schema.Int),
  /** Absent: everything was read. */
  faults: Schema.optionalKey(Schema.Array(ReadFaultSchema)),
  /** Attached at the upload, to filter by. */
  metadata: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
  /** Bytes of its stored crops of figures and extracted texts; absent: none. */
  attachmentBytes: Schema.optionalKey(Schema.Int)
})

/** A document with its parsed text. All offsets are UTF-16 code units into `text`. */
export const DocumentText = Schema.Struct({
  document: DocumentInfoSchema,
  text: Schema.String,
  blocks: Schema.Array(BlockSchema),
  pages: Schema.Array(Schema.Struct(page) satisfies Schema.Codec<Rag.Page>)
})
export type DocumentText = typeof DocumentText.Type

/** One page: its own text, and its lines with their boxes. Offsets refer to the document's text. */
export const PageContent = Schema.Struct({ ...page, text: Schema.String, lines: Schema.Array(LineSchema) })
export type PageContent = typeof PageContent.Type
