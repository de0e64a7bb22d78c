/** What a model wrote: a sentence and its citations, before they are compared with the passages. */

/** A citation as the model wrote it. Passages count from 1. */
export interface WrittenCitation {
  readonly passage?: number
  readonly quote?: string
}

/** A sentence as the model wrote it. */
export interface WrittenSentence {
  readonly text: string
  readonly citations: ReadonlyArray<WrittenCitation>
}
