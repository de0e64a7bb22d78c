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
}
