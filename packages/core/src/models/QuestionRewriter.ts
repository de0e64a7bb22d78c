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

/** A column of a table that SQL may use. */
export interface SqlColumn {
  /** Letters, digits and `_`. */
  readonly name: string
  /** The header, as it is in the document. */
  readonly title: string
  readonly type: "DECIMAL" | "DATE" | "TIMESTAMP" | "VARCHAR"
  /** The unit of its numbers, which the table leaves out. */
  readonly unit?: string
  readonly examples: ReadonlyArray<string>
}

/** A table that SQL may use. */
export interface SqlTable {
  readonly name: string
  /** Its document, headings and caption. */
  readonly title: string
  readonly rows: number
  readonly columns: ReadonlyArray<SqlColumn>
}

export interface WrittenSql {
  /** Undefined if the tables do not answer the question. */
  readonly sql: string | undefined
  /** As the model counted; 0 if it does not cost any. */
  readonly tokens: number
}

/** SQL that could not be run, and why. */
export interface RefusedSql {
  readonly sql: string
  readonly message: string
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
    /** A `SELECT` of DuckDB that calculates the answer from tables; with `refused`, in place of that. Not every rewriter can. */
    readonly toSql?: (
      question: string,
      tables: ReadonlyArray<SqlTable>,
      refused?: RefusedSql
    ) => Effect.Effect<WrittenSql, GatewayError>
  }
>()("@sluice/core/models/QuestionRewriter") {}
