/** Documents, pages and blocks in requests and responses. The types are those of `@sluice/rag`. */
import { field } from "@sluice/core/contract"
import type * as Rag from "@sluice/rag"
import type * as Formats from "@sluice/rag/formats"
import { Schema } from "effect"

export type { DocumentInfo, Metadata } from "@sluice/rag"
export type { Block, Line } from "@sluice/rag/formats"

const { optionalKey } = Schema

/** Offsets in the text of a document. */
export const spanFields = {
  start: field("The first character, an offset in UTF-16 code units of the document's text.", Schema.Int),
  end: field("The end, exclusive, as an offset.", Schema.Int)
}

/** `[x0, y0, x1, y1]` in PDF points, y from the top of the page. */
export const BoxSchema: Schema.Codec<Rag.Box> = Schema.Tuple([
  Schema.Finite,
  Schema.Finite,
  Schema.Finite,
  Schema.Finite
])

const BlockSchema: Schema.Codec<Formats.Block> = Schema.Struct({
  ...spanFields,
  kind: field(
    "The kind of the block.",
    Schema.Literals(["heading", "paragraph", "list", "table", "code", "figure"])
  ),
  level: field("1 to 6. Only for headings.", optionalKey(Schema.Int)),
  heading: field("The text without its markup. Only for headings.", optionalKey(Schema.String))
})

const page = {
  ...spanFields,
  number: field("The page, from 1.", Schema.Int),
  width: field("The width in PDF points, 1/72 inch.", Schema.Finite),
  height: field("The height in PDF points, 1/72 inch.", Schema.Finite)
}

export const LineSchema: Schema.Codec<Formats.Line> = Schema.Struct({
  ...spanFields,
  page: field("The page, from 1.", Schema.Int),
  box: field("The line's place on the page.", BoxSchema)
})

/** A page or picture that could not be read. The rest of the document was read. */
export const ReadFaultSchema: Schema.Codec<Formats.ReadFault> = Schema.Struct({
  page: field("The page, from 1. Absent in documents without pages.", optionalKey(Schema.Int)),
  message: field("What could not be read, and what to do.", Schema.String)
})

export const MetadataSchema = Schema.Record(Schema.String, Schema.Json)

/** A document of the library. */
export const DocumentInfoSchema: Schema.Codec<Rag.DocumentInfo> = Schema.Struct({
  id: field("The document's id, for paths.", Schema.String),
  path: field("The path that is shown to people.", Schema.String),
  title: field("The title, or the name of the file.", Schema.String),
  format: field("Identifier of its format, one of those of `GET /status`.", Schema.String),
  bytes: field("The size of the file in bytes.", Schema.Int),
  sha256: field("SHA-256 of the file, in hexadecimal.", Schema.String),
  passages: field("The number of passages.", Schema.Int),
  pages: field("The number of pages. Absent in documents without pages.", optionalKey(Schema.Int)),
  figures: field("Number of figures and tables; absent: none.", optionalKey(Schema.Int)),
  faults: field("What could not be read.", optionalKey(Schema.Array(ReadFaultSchema))),
  url: field("Where people find it, if its source says so.", optionalKey(Schema.String)),
  metadata: field("Attached at the upload, to filter by.", optionalKey(MetadataSchema)),
  attachmentBytes: field("Bytes of its stored crops and extracted texts.", optionalKey(Schema.Int))
})

/** A document with its parsed text. All offsets are UTF-16 code units into `text`. */
export const DocumentText = Schema.Struct({
  document: field("The document.", DocumentInfoSchema),
  text: field("The parsed text.", Schema.String),
  blocks: field("The parts of the text, in reading order.", Schema.Array(BlockSchema)),
  pages: field(
    "The pages, if it has any.",
    Schema.Array(Schema.Struct(page) satisfies Schema.Codec<Formats.Page>)
  )
})
export type DocumentText = typeof DocumentText.Type

/** One page: its own text, and its lines with their boxes. Offsets refer to the document's text. */
export const PageContent = Schema.Struct({
  ...page,
  text: field("The page's own text.", Schema.String),
  lines: field("The lines of the page.", Schema.Array(LineSchema))
})
export type PageContent = typeof PageContent.Type
