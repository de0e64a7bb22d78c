/** A cited answer, and the events by which it comes. */
import type { ImageDetail } from "@sluice/core"
import type { Citation, PassageFigure } from "../document/Document.ts"
import type { StageTime, Trace, TracedPassage } from "../retrieval/stages/Trace.ts"

/** One sentence and the numbers of the citations that support it. */
export interface AnswerSentence {
  readonly text: string
  /** Citation numbers; never empty. */
  readonly citations: ReadonlyArray<number>
}

/** A figure that was looked at for the question, and what image understanding said of it. */
export interface FigureLook {
  readonly figure: PassageFigure
  /** Path of the document. */
  readonly document: string
  readonly documentId: string
  readonly passageId: string
  /** The model's own words; empty when it failed. */
  readonly said: string
  /** As the model counted when it looked; nothing is paid again for what was `cached`. */
  readonly tokens: number
  readonly detail: ImageDetail
  readonly cached: boolean
  /** Why it could not be looked at. The answer is then made without. */
  readonly failed?: string
}

/** Every sentence is cited; `found` is false, and `answer` says so, when the passages do not answer the question. */
export interface Answer {
  readonly question: string
  readonly found: boolean
  /** The sentences with their `[n]`, or the plain statement that nothing was found, in the question's language. */
  readonly answer: string
  readonly sentences: ReadonlyArray<AnswerSentence>
  /** One for each quote, in order of `n`. */
  readonly citations: ReadonlyArray<Citation>
  /** Sentences left out because a quote did not stand in its passage. */
  readonly dropped: number
  /** Figures looked at for this question, best first; none without image understanding. */
  readonly figures: ReadonlyArray<FigureLook>
  readonly trace: Trace
}

/** What `ask` emits as it goes: stages as they finish, figures as they are looked at, sentences as they come, the whole answer last. */
export type AnswerEvent =
  | { readonly type: "stage"; readonly stage: StageTime }
  | { readonly type: "recalled"; readonly passages: ReadonlyArray<TracedPassage> }
  | { readonly type: "looked"; readonly look: FigureLook }
  | {
      readonly type: "sentence"
      readonly sentence: AnswerSentence
      readonly citations: ReadonlyArray<Citation>
    }
  | { readonly type: "answer"; readonly answer: Answer }
