/** The narrow service that answers a question from passages, sentence by sentence, with evidence. */
import { Context, type Stream } from "effect"
import type { GatewayError } from "../contract/GatewayError.ts"

/** What a program may want to know of a reading model before it uses it. */
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
  /** What its document is written in: `markdown` has marks that are not part of what it says, others are shown as they are, as where it is absent. */
  readonly format?: string
  /** What parts the cells of each line, where the text is lines of a CSV or TSV file, its header first. */
  readonly delimiter?: string
}

/** Evidence for a sentence: words of a passage, to the letter. `passage` is an index into the passages given. */
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
 * **Details.** A stream of sentences, each as soon as it is known. An empty stream says that the passages do not
 * answer the question. Quotes are claims: whoever shows them checks them against the passage first.
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
