/** Summaries of documents. The types are those of `@sluice/rag`. */
import { between, field } from "@sluice/core/contract"
import type * as Rag from "@sluice/rag"
import { Schema } from "effect"
import { nullable } from "./Administration.ts"
import { AnswerSentenceSchema, CitationSchema, costField, NotReadSchema } from "./Answer.ts"
import { QuestionFilter, Text } from "./Filter.ts"
import { CollectionReference } from "./Names.ts"

const { optionalKey } = Schema

/** Tokens of passages that a summary may send to a model at most. */
const MAX_TOKENS = 2_000_000

/** Unknown fields are rejected. */
export const SummaryRequest = Schema.Struct({
  collection: field(
    "The collection; `name@owner` for a shared one. Default: `default`.",
    nullable(CollectionReference)
  ),
  filter: field("Limits the documents and passages.", nullable(QuestionFilter)),
  plan: field("Only returns what the summary would read and cost.", nullable(Schema.Boolean), false),
  tokens: field("The most tokens of passages that are read.", nullable(between(1, MAX_TOKENS)), 50_000),
  sentences: field("The most sentences of the summary.", nullable(between(1, 50)), 8),
  question: field("What to look for. Default: the main points.", nullable(Text)),
  method: field(
    "`extractive`: sentences of the documents, without a model.",
    nullable(Schema.Literals(["model", "extractive"]))
  )
})
export type SummaryRequest = typeof SummaryRequest.Type

const PlanSchema = Schema.Struct({
  method: field("How the summary is made.", Schema.Literals(["model", "extractive"])),
  documents: field("The number of documents.", Schema.Int),
  passages: field("The number of passages that are read.", Schema.Int),
  matching: field("The number of passages that match the filter.", Schema.Int),
  calls: field("The calls of the model.", Schema.Int),
  inputTokens: field("Estimated tokens of the requests.", Schema.Int),
  outputTokens: field("Estimated tokens of the responses.", Schema.Int),
  cost: field("Estimated cost in quota units.", Schema.Int)
} satisfies Record<keyof Rag.SummaryPlan | "cost", Schema.Top>)

/** With `plan: true`. */
export const SummaryPlanBody = Schema.Struct({
  plan: field("What a summary would read and cost.", PlanSchema)
})
export type SummaryPlanBody = typeof SummaryPlanBody.Type

/** The summary of `@sluice/rag` with its cost. */
export const SummaryBody = Schema.Struct({
  plan: field("What was planned.", PlanSchema),
  text: field("The sentences as one text.", Schema.String),
  sentences: field("The sentences.", Schema.Array(AnswerSentenceSchema)),
  citations: field("The sources, by number.", Schema.Array(CitationSchema)),
  dropped: field("The number of sentences left out because their quotes are not in the sources.", Schema.Int),
  tokens: field("Tokens of all calls, as the model counted.", Schema.Int),
  notRead: field("Why a response could not be read.", optionalKey(NotReadSchema)),
  cost: costField("summary")
} satisfies Record<keyof Rag.Summary | "cost", Schema.Top>)
export type SummaryBody = typeof SummaryBody.Type
