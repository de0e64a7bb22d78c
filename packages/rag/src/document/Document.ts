/** The values of retrieval: documents, blocks, figures, passages, citations. */

import type { Quoted } from "@sluice/core/models"
import { Schema } from "effect"
import type { Locator } from "./Locator.ts"

/** A rectangle on a page, in PDF points (1/72 inch), y from the top of the page. */
export type Box = readonly [x0: number, y0: number, x1: number, y1: number]
export const Box: Schema.Codec<Box> = Schema.Tuple([
  Schema.Finite,
  Schema.Finite,
  Schema.Finite,
  Schema.Finite
])

/** A part of a document's text: character offsets (UTF-16 code units), end exclusive. */
export const Span = Schema.Struct({ start: Schema.Int, end: Schema.Int })
export type Span = typeof Span.Type

/** A page of a paged document. `number` counts from 1; `width` and `height` are in PDF points. */
export const Page = Schema.Struct({
  ...Span.fields,
  number: Schema.Int,
  width: Schema.Finite,
  height: Schema.Finite
})
export type Page = typeof Page.Type

export interface Line extends Span {
  readonly page: number
  readonly box: Box
}

/** A part of a document. Blocks are in reading order. */
export const Block = Schema.Struct({
  ...Span.fields,
  kind: Schema.Literals(["heading", "paragraph", "list", "table", "code", "figure"]),
  /** 1 to 6, for headings. */
  level: Schema.optionalKey(Schema.Int),
  /** The heading's text without its markup, for headings. */
  heading: Schema.optionalKey(Schema.String)
})
export type Block = typeof Block.Type

/**
 * A figure or a table of a document.
 *
 * **Details.** `start` to `end` is the part of the document's text with the caption and the text inside (a block of kind
 * `figure` or `table`), so that quotes and boxes are found as in all other text.
 */
export const Figure = Schema.Struct({
  ...Span.fields,
  kind: Schema.Literals(["figure", "table"]),
  /** As the caption has it, if any: `3`, `2.1`, `S4`, `IV`. */
  number: Schema.optionalKey(Schema.String),
  /** The caption in the text, if any. */
  caption: Schema.optionalKey(Span),
  /** The alternative text, if the document has one. */
  alternative: Schema.optionalKey(Schema.String),
  /** The page, and the box of the graphic without its caption, for paged documents. */
  page: Schema.optionalKey(Schema.Int),
  box: Schema.optionalKey(Box),
  /** The cells of a table, if lines or columns were recognized. The first row is the header. */
  rows: Schema.optionalKey(Schema.Array(Schema.Array(Schema.String))),
  /** The paragraphs that refer to it: "see Fig. 3", "图 3". */
  mentions: Schema.Array(Span),
  /** The graphic: PNG, JPEG or WebP; for PDFs rendered at 200 dpi. Undefined for tables without a graphic. */
  crop: Schema.optionalKey(Schema.Uint8Array)
})
export type Figure = typeof Figure.Type

/** A part of a document that could not be read. */
export const ReadFault = Schema.Struct({ page: Schema.optionalKey(Schema.Int), message: Schema.String })
export type ReadFault = typeof ReadFault.Type

/** The first faults, and how many more there are. `rest` says what they are: "pictures are not listed". */
export const firstFaults = (
  faults: ReadonlyArray<ReadFault>,
  most: number,
  rest: string
): ReadonlyArray<ReadFault> =>
  faults.length <= most
    ? faults
    : [...faults.slice(0, most), { message: `${faults.length - most} more ${rest}.` }]

/** A passage as a chunker cuts it. `headings` are those above it, outermost first. */
export const PassageSpan = Schema.Struct({ ...Span.fields, headings: Schema.Array(Schema.String) })
export type PassageSpan = typeof PassageSpan.Type

/**
 * A parsed file.
 *
 * **Details.** All offsets refer to `text`. For Markdown and plain text it is the file, character for character, without a
 * byte order mark, the Base64 of data URIs and template markup; for the other formats the text that a reader sees. If a vision model read
 * the text in a picture, it is at the end of the figure.
 */
export interface Parsed {
  /** Identifier of its format: `pdf`. */
  readonly format: string
  readonly title: string
  /** The front matter of Markdown without the title: tags, an author, a date. */
  readonly about?: string
  readonly text: string
  readonly blocks: ReadonlyArray<Block>
  /** Empty for formats without pages. */
  readonly pages: ReadonlyArray<Page>
  /** The place of each line on its page. Empty for formats without pages. */
  readonly lines: ReadonlyArray<Line>
  /** Where its parts are in the file, for formats with sheets, slides, chapters, messages or times. */
  readonly locators?: ReadonlyArray<Locator>
  /** In order of `start`. */
  readonly figures: ReadonlyArray<Figure>
  /** Pages and pictures that could not be read. */
  readonly faults: ReadonlyArray<ReadFault>
  /** The passages, if the document brings its own, or a custom `Chunker` made them. They may overlap. */
  readonly passages?: ReadonlyArray<PassageSpan>
}

/** What a document of text alone lacks. */
export const TEXT_ONLY = { pages: [], lines: [], figures: [], faults: [] } as const satisfies Partial<Parsed>

/** The figure or table that a passage is. `crop` is the SHA-256 of the image: see `Library.attachment`. */
export interface PassageFigure extends Pick<Figure, "kind" | "number" | "page" | "box"> {
  /** The caption's text; empty if there is none. */
  readonly caption: string
  readonly crop?: string
  /** For a later piece of a table: its caption and header line. Searched, ranked and read, but never quoted. */
  readonly head?: string
  /** Paragraphs that refer to it, and a description. Searched and ranked, but never quoted. */
  readonly said?: string
}

/** A part of a document that is found and cited. `parsed.text.slice(start, end) === text`. */
export interface Passage extends Span {
  /** 0, 1, 2 … within the document. */
  readonly ordinal: number
  readonly text: string
  /** The headings above the passage, outermost first. */
  readonly headings: ReadonlyArray<string>
  /** The page on which it starts, for paged documents. */
  readonly page?: number
  /** Where it is in the file, for formats without pages: `Fees!A12:D40`, `slide 7`. */
  readonly locator?: string
  /** The locators of its parts, if there are several. */
  readonly locators?: ReadonlyArray<Locator>
  /** Its lines, for paged documents. */
  readonly lines: ReadonlyArray<Line>
  /** For passages that are a figure or a table. */
  readonly figure?: PassageFigure
  /** For a document's first passage: the front matter. Searched and ranked, but never quoted. */
  readonly about?: string
}

/** Values that a program attaches to a document, to filter by. */
export type Metadata = { readonly [key: string]: MetadataValue }
export type MetadataValue =
  | string
  | number
  | boolean
  | null
  | ReadonlyArray<MetadataValue>
  | { readonly [key: string]: MetadataValue }

export interface DocumentInfo {
  /** 128 bits of the hash of `path`: 32 hexadecimal digits. */
  readonly id: string
  /** Relative to the ingested folder, with `/`. It identifies the document. */
  readonly path: string
  readonly title: string
  /** Identifier of its format: `pdf`. */
  readonly format: string
  readonly bytes: number
  /** SHA-256 of the file, hexadecimal. */
  readonly sha256: string
  readonly passages: number
  /** Number of pages, for paged documents. */
  readonly pages?: number
  /** Figures and tables among the passages. Absent if there are none. */
  readonly figures?: number
  /** Parts that could not be read. Absent if there are none. */
  readonly faults?: ReadonlyArray<ReadFault>
  /** Where people find it: an absolute URL. */
  readonly url?: string
  readonly metadata?: Metadata
  /** Bytes of its stored crops, readings and descriptions. Absent if there are none. */
  readonly attachmentBytes?: number
}

/** A picture file that a document links to. */
export interface LinkedPicture {
  /** The link, as the document has it. */
  readonly reference: string
  /** SHA-256 of the picture, or of the reason why it may not be read. Absent if there is no such file. */
  readonly sha256?: string
}

/**
 * A passage of a collection. `id` is `<document id>#<ordinal>`. What a question found has the URL and the metadata that its
 * document has then.
 */
export interface StoredPassage extends Passage {
  readonly id: string
  readonly document: Pick<DocumentInfo, "id" | "path" | "title" | "format" | "url" | "metadata">
}

/** Evidence for one sentence of an answer. `quote` is the document's text from `start` to `end`. */
export interface Citation extends Span {
  /** The reranker's score of its passage, or that of the fused list. Absent for a neighbour that was read along. */
  readonly score?: number
  readonly url?: string
  readonly metadata?: Metadata
  /** The number shown in the answer, from 1. Each quote has its own. */
  readonly n: number
  /** Path of the document. */
  readonly document: string
  readonly documentId: string
  readonly title: string
  readonly passageId: string
  readonly headings: ReadonlyArray<string>
  readonly quote: string
  /** `matched`: the model gave no quote, and Sluice found the sentence that supports its own. */
  readonly quoted: Quoted
  readonly page?: number
  /** Where the quote is in the file, for formats without pages: `Fees!A12:D12`, `slide 7`, `00:01:20`. */
  readonly locator?: string
  /** For citations of a figure or a table. */
  readonly figure?: PassageFigure
  /** A vision model saw it in the figure's picture. Then `quote` is empty, `start` is `end`, and the box is the figure's. */
  readonly seen?: true
  /** The boxes of the quote's lines on its pages, for paged documents. */
  readonly boxes: ReadonlyArray<{ readonly page: number; readonly box: Box }>
}
