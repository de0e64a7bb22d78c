/** The values that retrieval is about: documents, their blocks, passages, citations. */

/** A rectangle on a page, in PDF points (1/72 inch), y from the top of the page: `[x0, y0, x1, y1]`. */
export type Box = readonly [x0: number, y0: number, x1: number, y1: number]

/** A part of a document's text: character offsets (UTF-16 code units), end exclusive. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** A page of a paged document. `number` counts from 1; `width` and `height` are in PDF points. */
export interface Page extends Span {
  readonly number: number
  readonly width: number
  readonly height: number
}

/** A line of a page and the box around it. */
export interface Line extends Span {
  readonly page: number
  readonly box: Box
}

/** What a document is made of, in reading order. */
export interface Block extends Span {
  readonly kind: "heading" | "paragraph" | "list" | "table" | "code" | "figure"
  /** 1 to 6, for headings. */
  readonly level?: number
  /** The heading's text without its markup, for headings. */
  readonly heading?: string
}

/**
 * A figure or a table of a document.
 *
 * **Details.** Its text is part of the document's text, as everything that is cited: `start` to `end` is one stretch of
 * it that holds the caption and what is written inside (a block of kind `figure` or `table`), so that quotes are checked
 * and boxes are found in the same way everywhere.
 */
export interface Figure extends Span {
  readonly kind: "figure" | "table"
  /** As the caption says it: `3`, `2.1`, `S4`, `IV`; undefined where it has none. */
  readonly number?: string
  /** Where its caption stands in the text; undefined where it has none. */
  readonly caption?: Span
  /** What stands for the picture where it cannot be seen, as the document says it. */
  readonly alternative?: string
  /** The page it is on and the box of the graphic without its caption, for paged documents. */
  readonly page?: number
  readonly box?: Box
  /** The cells of a table, where lines or columns allow; the first row is its head. */
  readonly rows?: ReadonlyArray<ReadonlyArray<string>>
  /** The paragraphs that refer to it: "see Fig. 3", "图 3". */
  readonly mentions: ReadonlyArray<Span>
  /** The graphic as an image: PNG, JPEG or WebP. For PDFs rendered at 200 dpi. Undefined for tables without one. */
  readonly crop?: Uint8Array
}

/** What of a document could not be read. The rest was. */
export interface ReadFault {
  readonly page?: number
  readonly message: string
}

/**
 * A file as its parser read it.
 *
 * `text` is what all offsets refer to. For Markdown and plain text it is the file itself, character for character
 * (without a byte order mark, and without the Base64 of data URIs); for the other formats the text that a reader sees.
 * What is written in a picture stands at the end of its figure, where image understanding read it.
 */
export interface Parsed {
  /** Identifier of its format: `pdf`. */
  readonly format: string
  readonly title: string
  /** What the front matter of Markdown says besides the title: tags, an author, a date. */
  readonly about?: string
  readonly text: string
  readonly blocks: ReadonlyArray<Block>
  /** Empty for formats without pages. */
  readonly pages: ReadonlyArray<Page>
  /** Where each line stands on its page; empty for formats without pages. */
  readonly lines: ReadonlyArray<Line>
  /** In order of `start`. */
  readonly figures: ReadonlyArray<Figure>
  /** Pages and pictures that could not be read. */
  readonly faults: ReadonlyArray<ReadFault>
}

/** What a passage that is a figure or a table carries. `crop` is the SHA-256 of the image, to be asked of the library. */
export interface PassageFigure extends Pick<Figure, "kind" | "number" | "page" | "box"> {
  /** The caption's text; empty where there is none. */
  readonly caption: string
  readonly crop?: string
  /** Of a later piece of a table: its caption and header line. They are searched, ranked and read, never quoted. */
  readonly head?: string
  /** What is said of it elsewhere: paragraphs that refer to it, a description. It is searched and ranked, never quoted. */
  readonly said?: string
}

/** Law: `parsed.text.slice(start, end) === text`. */
export interface Passage extends Span {
  /** 0, 1, 2 … within the document. */
  readonly ordinal: number
  readonly text: string
  /** Path of headings above the passage, outermost first. */
  readonly headings: ReadonlyArray<string>
  /** The page it starts on, for paged documents. */
  readonly page?: number
  /** The lines it is made of, for paged documents. */
  readonly lines: ReadonlyArray<Line>
  /** For passages that are a figure or a table. */
  readonly figure?: PassageFigure
  /** For a document's first passage: what its front matter says. It is searched and ranked, never quoted. */
  readonly about?: string
}

/** Values that a program attaches to a document, to filter by. Keys may be anything. */
export type Metadata = { readonly [key: string]: MetadataValue }
export type MetadataValue =
  | string
  | number
  | boolean
  | null
  | ReadonlyArray<MetadataValue>
  | { readonly [key: string]: MetadataValue }

/** A document of a collection. */
export interface DocumentInfo {
  /** 128 bits of the hash of `path`, 32 hexadecimal digits: nothing in it needs quoting. */
  readonly id: string
  /** Path relative to what was ingested, with `/`. It identifies the document. */
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
  /** Figures and tables among the passages; absent means none. */
  readonly figures?: number
  /** What of it could not be read; absent means that all was. */
  readonly faults?: ReadonlyArray<ReadFault>
  readonly metadata?: Metadata
}

/** A picture file that a document links to. */
export interface LinkedPicture {
  /** The link, as the document has it. */
  readonly reference: string
  /** SHA-256 of the picture, or of the reason why it may not be read. Absent if there is no such file. */
  readonly sha256?: string
}

/** A passage as it stands in a collection. `id` is `<document id>#<ordinal>`. */
export interface StoredPassage extends Passage {
  readonly id: string
  readonly document: Pick<DocumentInfo, "id" | "path" | "title" | "format">
}

/** Evidence for one sentence of an answer. `quote` stands in the document's text at `start`, to the letter. */
export interface Citation extends Span {
  /** The number shown in the answer, from 1; one for each quote. */
  readonly n: number
  /** Path of the document. */
  readonly document: string
  readonly documentId: string
  readonly title: string
  readonly passageId: string
  readonly headings: ReadonlyArray<string>
  readonly quote: string
  readonly page?: number
  /** For citations of a figure or a table. */
  readonly figure?: PassageFigure
  /**
   * Image understanding saw it in the figure's picture, where no text can be quoted: `quote` is empty, `start` is `end`,
   * and the box is the figure's.
   */
  readonly seen?: true
  /** The boxes of the quote's lines on its pages, for paged documents. */
  readonly boxes: ReadonlyArray<{ readonly page: number; readonly box: Box }>
}
