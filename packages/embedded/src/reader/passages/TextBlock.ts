/** A piece of a passage that a sentence never crosses. */
export interface TextBlock {
  readonly kind: "paragraph" | "heading" | "item" | "header" | "row" | "code"
  /** Character offsets of what it says, without the marks that introduce it. */
  readonly start: number
  readonly end: number
}
