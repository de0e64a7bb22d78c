/** The service that answers a question from passages, sentence by sentence, with evidence. */
import { Context, type Stream } from "effect"
import type { GatewayError } from "../contract/GatewayError.ts"
import type { NotRead } from "./NotRead.ts"

/** A reading model. */
export interface ReaderModel {
  readonly id: string
  /** `extractive` readers answer with sentences of the passages, `generative` ones with their own. */
  readonly kind: "extractive" | "generative"
  /** Tokens of a request and its response together. Absent if unknown. */
  readonly window?: number
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
  /** `matched`: the model named the passage at most, and the reader found the sentence that supports it. Default `model`. */
  readonly quoted?: Quoted
}

/** Who chose a quote: the model, or the reader, which matched the sentence to it. */
export type Quoted = "model" | "matched"

/** One sentence of an answer, with its evidence. */
export interface CitedSentence {
  readonly type?: undefined
  readonly text: string
  readonly evidence: ReadonlyArray<Evidence>
}

/** More text of the next sentence, as the model writes it. It is provisional until the sentence follows. */
export interface ReaderText {
  readonly type: "text"
  readonly text: string
}

/** The text since the last sentence does not become one. */
export interface ReaderWithdrawn {
  readonly type: "withdrawn"
}

/** How a reading ended. */
export interface ReaderEnd {
  readonly type: "end"
  /** Why the response, or its end, could not be read. Absent if it was read, even if it is that nothing was found. */
  readonly notRead?: NotRead
  /** The parts of the question that the passages do not answer, as the model said. */
  readonly unanswered?: ReadonlyArray<number>
  /** Requests to the model. */
  readonly calls: number
  /** Tokens of all requests, as the model counted. */
  readonly tokens: number
}

/** A sentence; or, of models that write, text in advance and the end. */
export type ReaderPart = CitedSentence | ReaderText | ReaderWithdrawn | ReaderEnd

/**
 * Answers a question from passages.
 *
 * **Details.** A stream of sentences, and of other parts that a reader may leave out. Without a sentence, and without
 * `notRead`, the passages do not answer the question. Quotes are claims: check them against the passage before showing them.
 */
export class Reader extends Context.Service<
  Reader,
  {
    readonly model: ReaderModel
    /** `parts` are those of a question that has several, for readers that write. */
    readonly read: (
      question: string,
      passages: ReadonlyArray<ReaderPassage>,
      parts?: ReadonlyArray<string>
    ) => Stream.Stream<ReaderPart, GatewayError>
  }
>()("@sluice/core/models/Reader") {}

/** Whether a part is a sentence. */
export const isCitedSentence = (part: ReaderPart): part is CitedSentence => part.type === undefined
