/** The options of an answer. */
import type { RetrieveOptions } from "../retrieval/stages/RetrieveOptions.ts"

/** What a reader that writes gets to read. A reader that only quotes gets the kept passages. */
export interface ContextOptions {
  /** Passages, with the kept ones, as far as the tokens go. Default 10. */
  readonly passages?: number | undefined
  /** Estimated tokens of all passages. Default 6,000, at most half of the reader's `window`. */
  readonly tokens?: number | undefined
  /** Adds the neighbours of the kept passages under their headings. Default true. */
  readonly section?: boolean | undefined
}

export interface AnswerOptions {
  readonly context?: ContextOptions | undefined
  /**
   * What becomes of a sentence whose quotes do not support it, as the `Verifier` of the context says: it is marked, left
   * out, or not verified. Without a `Verifier`, and with a reader that only quotes, nothing is verified. Default `mark`.
   */
  readonly verify?: "mark" | "drop" | "off" | undefined
  /** Retrieves the parts of a question apart: several questions in one, and comparisons. Default true. */
  readonly multi?: boolean | undefined
}

/** Options of retrieval and of the answer. An option of the question replaces the library's. */
export interface AskOptions extends RetrieveOptions, AnswerOptions {}

/** Separates the options of retrieval, and adds the library's to those of the answer. */
export const splitOptions = (
  { context, multi, verify, ...retrieval }: AskOptions,
  library: AskOptions
): readonly [RetrieveOptions, AnswerOptions] => [
  retrieval,
  {
    verify: verify ?? library.verify,
    multi: multi ?? library.multi,
    context: { ...library.context, ...context }
  }
]
