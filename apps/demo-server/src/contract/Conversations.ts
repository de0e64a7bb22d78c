/** Conversations: the caller's questions and answers, kept on the server. */
import { field } from "@sluice/core/contract"
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Access } from "./Access.ts"
import { AnswerBody } from "./Answer.ts"
import { noControls } from "./Names.ts"

/** Characters of a title. */
export const MAX_TITLE = 120

export const Rating = Schema.Literals(["up", "down"])
export type Rating = typeof Rating.Type

const summary = {
  id: field("The conversation.", Schema.String),
  title: field("Its title; at first the first question.", Schema.String),
  collection: field("The collection of its first question.", Schema.String),
  created: field("When it began, in epoch milliseconds.", Schema.Int),
  updated: field("When its last answer was kept, in epoch milliseconds.", Schema.Int),
  shared: field("Whether everybody with its link can read it.", Schema.Boolean)
}

/** Without its turns. */
export const ConversationSummary = Schema.Struct(summary)
export type ConversationSummary = typeof ConversationSummary.Type

/** A question with its answer and trace, as they were then. */
export const ConversationBody = Schema.Struct({
  ...summary,
  turns: field(
    "The questions and answers, oldest first.",
    Schema.Array(
      Schema.Struct({
        number: field("The number of the turn, from 1.", Schema.Int),
        answer: field("The question, its answer and its trace.", AnswerBody),
        rating: field("How the answer was rated.", Schema.optionalKey(Rating))
      })
    )
  )
})
export type ConversationBody = typeof ConversationBody.Type

/** The id of a conversation. */
export const ConversationId = Schema.String.check(Schema.isMaxLength(64), noControls)

const id = field("The conversation.", ConversationId)
const params = { id }
const title = Schema.NonEmptyString.check(Schema.isMaxLength(MAX_TITLE), noControls)

export class ConversationsGroup extends HttpApiGroup.make("conversations")
  .add(
    /** The caller's conversations, latest first. `POST /qa` with `conversation` begins and continues them. */
    HttpApiEndpoint.get("conversations", "/conversations", {
      success: Schema.Struct({
        conversations: field("The conversations, without their turns.", Schema.Array(ConversationSummary))
      })
    }),
    HttpApiEndpoint.get("conversation", "/conversations/:id", { params, success: ConversationBody }),
    HttpApiEndpoint.patch("renameConversation", "/conversations/:id", {
      params,
      payload: Schema.Struct({ title: field("The new title.", title) }),
      success: ConversationSummary
    }).annotate(HttpApi.PayloadParseOptions, { onExcessProperty: "error" }),
    /** This can't be undone. Its link stops to work. */
    HttpApiEndpoint.delete("removeConversation", "/conversations/:id", { params }),
    /** Rates an answer. `null` takes the rating back. */
    HttpApiEndpoint.put("rateAnswer", "/conversations/:id/turns/:number/rating", {
      params: {
        id,
        number: field(
          "The number of the turn, from 1.",
          Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: 1_000 }))
        )
      },
      payload: Schema.Struct({ rating: field("The rating.", Schema.NullOr(Rating)) })
    }),
    /** Everybody who has the returned path may read the conversation. A new link revokes the previous one. */
    HttpApiEndpoint.post("shareConversation", "/conversations/:id/link", {
      params,
      success: Schema.Struct({ path: field("The path of the page on this server.", Schema.String) })
    }),
    HttpApiEndpoint.delete("unshareConversation", "/conversations/:id/link", { params }),
    /** The conversation as a file, with its quotes as footnotes. */
    HttpApiEndpoint.get("exportConversation", "/conversations/:id/export", {
      params,
      query: {
        format: field("The format.", Schema.optionalKey(Schema.Literals(["markdown", "html"])), "markdown")
      },
      success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/plain" }))
    })
  )
  .middleware(Access) {}

/** A shared conversation, for everybody who has its link. */
export class SharedGroup extends HttpApiGroup.make("shared").add(
  HttpApiEndpoint.get("shared", "/shared/:secret", {
    params: { secret: field("The secret of the link.", Schema.String.check(Schema.isMaxLength(100))) },
    success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/html" }))
  })
) {}
