/** The service that makes a follow-up a question that can be understood alone. */
import { Context, type Effect } from "effect"
import type { GatewayError } from "../contract/GatewayError.ts"

/** A question of a conversation, and its answer. */
export interface ConversationTurn {
  readonly question: string
  /** The question as it was understood, if it depended on the turns before. */
  readonly standalone?: string
  readonly answer?: string
}

export interface RewrittenQuestion {
  /** The question unchanged if it needs no other. */
  readonly question: string
  /** As the model counted; 0 if it does not cost any. */
  readonly tokens: number
}

/** Texts of a model that are searched besides a question. */
export interface GeneratedTexts {
  readonly texts: ReadonlyArray<string>
  /** As the model counted; 0 if it does not cost any. */
  readonly tokens: number
}

/** Rewrites follow-ups. Without one, a library carries the subject of the last turn into the question. */
export class QuestionRewriter extends Context.Service<
  QuestionRewriter,
  {
    readonly model: { readonly id: string }
    /** Oldest turn first. */
    readonly rewrite: (
      question: string,
      history: ReadonlyArray<ConversationTurn>
    ) => Effect.Effect<RewrittenQuestion, GatewayError>
    /** A passage that might answer the question (`passage`), or `count` other wordings of it. Not every rewriter can. */
    readonly generate?: (
      kind: "passage" | "questions",
      question: string,
      count: number
    ) => Effect.Effect<GeneratedTexts, GatewayError>
  }
>()("@sluice/core/models/QuestionRewriter") {}
