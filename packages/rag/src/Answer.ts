/** A cited answer, and the events by which it comes. */
import type { Citation } from "./Document.ts"
import type { StageTime, Trace, TracedPassage } from "./Trace.ts"

/** One sentence and the numbers of the citations that support it. */
export interface AnswerSentence {
  readonly text: string
  /** Citation numbers; never empty. */
  readonly citations: ReadonlyArray<number>
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
  readonly trace: Trace
}

/** What `ask` emits as it goes: stages as they finish, sentences as they come, the whole answer last. */
export type AnswerEvent =
  | { readonly type: "stage"; readonly stage: StageTime }
  | { readonly type: "recalled"; readonly passages: ReadonlyArray<TracedPassage> }
  | {
      readonly type: "sentence"
      readonly sentence: AnswerSentence
      readonly citations: ReadonlyArray<Citation>
    }
  | { readonly type: "answer"; readonly answer: Answer }
