/** The parts of a passage: blocks, and the sentences in them. */

/** A block: a sentence never extends over two. */
export interface PassageBlock {
  readonly kind: "paragraph" | "heading" | "item" | "header" | "row" | "code"
  /** Character offsets of the content, without the marks that introduce it. */
  readonly start: number
  readonly end: number
}

/** A sentence, item, row or line of code. `text.slice(start, end)` is its source. */
export interface Sentence {
  readonly kind: PassageBlock["kind"]
  /** In one line, without Markdown marks. */
  readonly text: string
  readonly start: number
  readonly end: number
  /** The index of its block in the passage. */
  readonly block: number
  /** The cells of a row or header, empty ones among them. Absent if the text does not show them. */
  readonly cells?: ReadonlyArray<string>
  /** A row with the name of its column before each cell. Absent without a header of as many cells. */
  readonly named?: string
}
