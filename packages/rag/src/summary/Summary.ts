/** A summary of documents, and its plan. */
import type { NotRead } from "@sluice/core/models"
import type { AnswerSentence } from "../answering/Answer.ts"
import type { Citation } from "../document/Document.ts"
import type { Filter } from "../document/Filter.ts"

export interface SummaryOptions {
  /** Summarises only passages that match. Default: all documents of the collection, at most 100. */
  readonly filter?: Filter | undefined
  /** Estimated tokens of the passages that are read, at most. Default 50,000. */
  readonly tokens?: number | undefined
  /** Sentences of the summary, at most. A model may write a few more. Default 8. */
  readonly sentences?: number | undefined
  /** What to look for, as `What are the risks?`. A model answers in its language. Default: the main points. */
  readonly question?: string | undefined
  /** `extractive` chooses sentences of the documents, without a model. Default: `model` if a chat model reads. */
  readonly method?: "model" | "extractive" | undefined
}

/** What a summary reads, and what it asks of the model. Responses that have to be asked for again are not counted. */
export interface SummaryPlan {
  readonly method: "model" | "extractive"
  readonly documents: number
  /** Passages that are read, within the budget of tokens. */
  readonly passages: number
  /** Passages that match the filter. If more than are read, those with the most frequent words are read. */
  readonly matching: number
  /** Calls of the model. */
  readonly calls: number
  /** Estimated tokens of the requests. */
  readonly inputTokens: number
  /** Estimated tokens of the responses. */
  readonly outputTokens: number
}

export interface Summary {
  readonly plan: SummaryPlan
  /** The sentences with their `[n]`. Empty if there are none. */
  readonly text: string
  readonly sentences: ReadonlyArray<AnswerSentence>
  readonly citations: ReadonlyArray<Citation>
  /** Sentences left out because a quote was not found in its passage. */
  readonly dropped: number
  /** Tokens of all calls, as the model counted. */
  readonly tokens: number
  /** Why a response, of which there may be several, could not be read. What it was about is missing. */
  readonly notRead?: NotRead
}
