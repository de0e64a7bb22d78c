/** The service that answers a question from passages, sentence by sentence, with evidence. */
import { Context, type Stream } from "effect"
import type { GatewayError } from "../contract/GatewayError.ts"

/** A reading model. */
export interface ReaderModel {
  readonly id: string
  /** `extractive` readers answer with sentences of the passages, `generative` ones with their own. */
  readonly kind: "extractive" | "generative"
}

/** A passage as a reader sees it, most relevant first. */
export interface ReaderPassage {
  /** Title of the document and path of headings. */
  readonly title: string
  readonly text: string
  /** The markup of the text. `markdown` is rendered; any other value is plain text, as is the default. */
  readonly format?: string
  /** The cell delimiter, if the text is lines of a CSV or TSV file with its header first. */
  readonly delimiter?: string
}

/** Evidence for a sentence: a verbatim quote. `passage` is an index into the passages. */
export interface Evidence {
  readonly passage: number
  readonly quote: string
}

/** One sentence of an answer, with at least one piece of evidence. */
export interface CitedSentence {
  readonly text: string
  readonly evidence: ReadonlyArray<Evidence>
}

/**
 * Answers a question from passages.
 *
 * **Details.** A stream of sentences. An empty stream means that the passages do not answer the question. Quotes are
 * claims: check them against the passage before showing them.
 */
export class Reader extends Context.Service<
  Reader,
  {
    readonly model: ReaderModel
    readonly read: (
      question: string,
      passages: ReadonlyArray<ReaderPassage>
    ) => Stream.Stream<CitedSentence, GatewayError>
  }
>()("@sluice/core/models/Reader") {}
