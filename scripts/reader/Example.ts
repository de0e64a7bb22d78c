/** A labelled question with what was retrieved for it. */
import type { ReaderPassage } from "@sluice/core/models"

/** Where the answer is. Without `starts`, `texts` are looked for in the document. Without both there is none. */
export interface Gold {
  readonly path: string
  readonly starts: ReadonlyArray<number>
  readonly texts: ReadonlyArray<string>
}

export interface RetrievedPassage extends ReaderPassage {
  readonly path: string
  /** Of its text in the document. */
  readonly start: number
}

export interface Example {
  readonly set: string
  readonly language: string
  readonly id: string
  /** `own`: in a user's words; `keyword`: in the document's; `none`: without an answer. */
  readonly kind: string
  readonly question: string
  readonly sealed?: boolean
  readonly gold: Gold
  /** The best first. */
  readonly passages: ReadonlyArray<RetrievedPassage>
  /** Those that the closest ones are chosen from, likewise. */
  readonly further?: ReadonlyArray<RetrievedPassage>
}
