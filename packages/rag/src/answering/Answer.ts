/** A cited answer, and the events of a question. */
import type { NotRead } from "@sluice/core/models"
import type { ImageDetail } from "@sluice/core/contract"
import type { Citation, PassageFigure, StoredPassage } from "../document/Document.ts"
import type { StageTime, Trace, TracedPassage } from "../retrieval/stages/Trace.ts"

/** One sentence and the numbers of the citations that support it. */
export interface AnswerSentence {
  readonly text: string
  /** Citation numbers; never empty. */
  readonly citations: ReadonlyArray<number>
  /** Why its quotes do not support it, as the verifier says. Absent if they do, or if nothing was verified. */
  readonly unsupported?: string
}

/** One of several questions in one, or a side of a comparison. */
export interface AnsweredPart {
  readonly question: string
  /** False if no sentence answers it. */
  readonly found: boolean
}

/** A figure that the vision model was asked about, and its answer. */
export interface FigureLook {
  readonly figure: PassageFigure
  /** Path of the document. */
  readonly document: string
  readonly documentId: string
  readonly passageId: string
  /** The model's words; empty if it failed. */
  readonly said: string
  /** As the model counted. A `cached` answer is not paid again. */
  readonly tokens: number
  readonly detail: ImageDetail
  readonly cached: boolean
  /** Why the model did not answer. The question is then answered without the figure. */
  readonly failed?: string
}

/**
 * What a question found.
 *
 * **Details.** Only `passages` and `nothing` say something about the documents: the model found no answer in them. `unread`
 * says that there is no answer to read; see `notRead`.
 */
export type AnswerOutcome =
  | "answer" // A cited answer.
  | "passages" // No sure answer. `closest` has the best passages.
  | "nothing" // No answer, and no passage shares a word with the question.
  | "unread" // The model's response was cut off, filtered, refused, or not proved.

/** A passage that is shown instead of an answer. */
export interface ClosestPassage {
  readonly passage: StoredPassage
  /** Where its text has words of the question. Never empty. */
  readonly matches: ReadonlyArray<{ readonly start: number; readonly end: number }>
}

/** A question as it was understood, if it depended on the turns before it. */
export interface Standalone {
  readonly question: string
  /** `model`: a chat model rewrote it. `carried`: words of an earlier turn were put in. `caller`: given with the question. */
  readonly by: "model" | "carried" | "caller"
}

/** Every sentence is cited. Without an answer, `found` is false, and `outcome` and `answer` say why. */
export interface Answer {
  readonly question: string
  /** The question that was searched and answered, if it was another one. */
  readonly standalone?: Standalone
  readonly found: boolean
  readonly outcome: AnswerOutcome
  /** The parts of a question that has several. */
  readonly parts?: ReadonlyArray<AnsweredPart>
  /** Why the model's response could not be read. If there are sentences, the rest is missing. */
  readonly notRead?: NotRead
  /** The sentences with their `[n]`, or a sentence that nothing was found, in the question's language. */
  readonly answer: string
  readonly sentences: ReadonlyArray<AnswerSentence>
  /** One for each quote, in order of `n`. */
  readonly citations: ReadonlyArray<Citation>
  /** The best passages if there is no answer, at most eight, best first. */
  readonly closest: ReadonlyArray<ClosestPassage>
  /** Sentences left out because a quote was not found in its passage. */
  readonly dropped: number
  /** Sentences whose quotes do not support them: they are marked, or with `verify: "drop"` left out. */
  readonly unsupported: number
  /** Figures that the vision model was asked about, best first. */
  readonly figures: ReadonlyArray<FigureLook>
  readonly trace: Trace
}

/**
 * The events of `askEvents`: stages, figures and sentences as they finish, and the complete answer last.
 *
 * **Details.** A model that writes emits `text` first: the next sentence, as it is written. It is provisional until a
 * `sentence` settles it, whose quotes were checked, or `withdrawn` takes it back.
 */
export type AnswerEvent =
  /** Of a follow-up, first: how it was understood. */
  | { readonly type: "standalone"; readonly standalone: Standalone }
  | { readonly type: "stage"; readonly stage: StageTime }
  | { readonly type: "recalled"; readonly passages: ReadonlyArray<TracedPassage> }
  | { readonly type: "looked"; readonly look: FigureLook }
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "withdrawn"
      /** All text since the last sentence. */
      readonly text: string
    }
  | {
      readonly type: "sentence"
      readonly sentence: AnswerSentence
      readonly citations: ReadonlyArray<Citation>
    }
  | { readonly type: "answer"; readonly answer: Answer }
