/** The options of an answer. */
import type { RetrieveOptions } from "../retrieval/stages/RetrieveOptions.ts"

export interface AnswerOptions {
  /**
   * What becomes of a sentence whose quotes do not support it, as the `Verifier` of the context says: it is marked, left
   * out, or not verified. Without a `Verifier`, and with a reader that only quotes, nothing is verified. Default `mark`.
   */
  readonly verify?: "mark" | "drop" | "off" | undefined
}

/** Options of retrieval and of the answer. An option of the question replaces the library's. */
export interface AskOptions extends RetrieveOptions, AnswerOptions {}

/** Separates the options of retrieval, and adds the library's to those of the answer. */
export const splitOptions = (
  { verify, ...retrieval }: AskOptions,
  library: AnswerOptions
): readonly [RetrieveOptions, AnswerOptions] => [retrieval, { verify: verify ?? library.verify }]
