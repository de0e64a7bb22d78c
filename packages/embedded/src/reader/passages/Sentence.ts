import type { TextBlock } from "./TextBlock.ts"

/** A sentence, item, row or line of a passage. `text.slice(start, end)` is its source, to the letter. */
export interface Sentence {
  readonly kind: TextBlock["kind"]
  /** Without marks, in one line. */
  readonly text: string
  readonly start: number
  readonly end: number
  /** Number of its block within the passage. */
  readonly block: number
}
