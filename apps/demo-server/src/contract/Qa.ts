/** Questions about the documents. */
import { between, field } from "@sluice/core/contract"
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Access, ReadsDocuments } from "./Access.ts"
import { AnswerBody, AnswerStreamEvent, RetrievalBody } from "./Answer.ts"
import { nullable } from "./Administration.ts"
import { ConversationId } from "./Conversations.ts"
import { SummaryBody, SummaryPlanBody, SummaryRequest } from "./Summary.ts"
import { CollectionReference } from "./Names.ts"
import { QuestionFilter, Text } from "./Filter.ts"

const { optionalKey } = Schema

const count = between(1, 100)

/** Tokens of passages that a question may send to a model at most. */
const MAX_CONTEXT = 200_000

/** What a language model reads: see `ContextOptions` of `@sluice/rag`. */
const Context = Schema.Struct({
  passages: field("The most passages that a language model reads.", optionalKey(count)),
  tokens: field("The most tokens of passages that it reads.", optionalKey(between(1, MAX_CONTEXT))),
  section: field("Whether it reads the whole section of a passage.", optionalKey(Schema.Boolean))
})

/** Unknown fields are rejected. */
const RetrievalRequest = Schema.Struct({
  question: field("The question.", Text),
  collection: field(
    "The collection; `name@owner` for a shared one. Default: `default`.",
    nullable(CollectionReference)
  ),
  filter: field("Limits the passages that may be used.", nullable(QuestionFilter)),
  recall: field("The number of passages to find.", nullable(count), 20),
  keep: field("The number of passages to keep after reranking.", nullable(count), 3),
  options: field(
    "Other options of retrieval, such as `diversity`.",
    nullable(Schema.Record(Schema.String, Schema.Json))
  )
})

/** Answers from the passages that are kept. */
export const QuestionRequest = Schema.Struct({
  ...RetrievalRequest.fields,
  context: field("What a language model reads.", nullable(Context)),
  multi: field(
    "Whether several questions in one, and comparisons, are retrieved part by part.",
    nullable(Schema.Boolean),
    true
  ),
  verify: field(
    "What becomes of sentences without support; `off`: no check.",
    nullable(Schema.Literals(["mark", "drop", "off"]))
  ),
  conversation: field(
    "`new`, or the id of a conversation: its turns complete the question, and the answer becomes its next turn.",
    nullable(ConversationId)
  ),
  turn: field("The turn to replace, with those after it.", nullable(between(1, 1_000))),
  standalone: field("The question as it is to be understood.", nullable(Text))
})
export type QuestionRequest = typeof QuestionRequest.Type

export class QaGroup extends HttpApiGroup.make("qa")
  .add(
    /** Returns JSON, or server-sent events with `Accept: text/event-stream`. 409 if the library needs a rebuild. */
    HttpApiEndpoint.post("ask", "/qa", {
      headers: { accept: field("`text/event-stream` for server-sent events.", optionalKey(Schema.String)) },
      payload: QuestionRequest,
      success: [AnswerBody, HttpApiSchema.StreamSse({ data: AnswerStreamEvent })]
    }),
    /** A summary of documents, or with `plan` what it would read and cost. */
    HttpApiEndpoint.post("summarise", "/summary", {
      payload: SummaryRequest,
      success: Schema.Union([SummaryBody, SummaryPlanBody])
    }),
    /** The passages without an answer. Costs an embedding and a reranking. */
    HttpApiEndpoint.post("retrieve", "/retrieve", {
      payload: RetrievalRequest,
      success: RetrievalBody
    })
  )
  // Ignoring a misspelt `filter` would answer from everything.
  .annotate(HttpApi.PayloadParseOptions, { onExcessProperty: "error" })
  .annotateEndpoints(ReadsDocuments, true)
  .middleware(Access) {}
