/** A cited answer, its trace, and the events by which it comes: the values of `@sluice/rag` as schemas. */
import { ErrorBody, ImageDetail } from "@sluice/core/contract"
import { Schema } from "effect"
import { Box, Format, Line } from "./Document.ts"

const span = { start: Schema.Int, end: Schema.Int }

export const PassageFigure = Schema.Struct({
  kind: Schema.Literals(["figure", "table"]),
  number: Schema.optionalKey(Schema.String),
  caption: Schema.String,
  page: Schema.optionalKey(Schema.Int),
  box: Schema.optionalKey(Box),
  crop: Schema.optionalKey(Schema.String)
})

export const StoredPassage = Schema.Struct({
  ...span,
  id: Schema.String,
  ordinal: Schema.Int,
  text: Schema.String,
  headings: Schema.Array(Schema.String),
  page: Schema.optionalKey(Schema.Int),
  lines: Schema.Array(Line),
  figure: Schema.optionalKey(PassageFigure),
  document: Schema.Struct({
    id: Schema.String,
    path: Schema.String,
    title: Schema.String,
    format: Format
  })
})

export const TracedPassage = Schema.Struct({
  passage: StoredPassage,
  similarity: Schema.optionalKey(Schema.Finite),
  vectorRank: Schema.optionalKey(Schema.Int),
  keywordScore: Schema.optionalKey(Schema.Finite),
  keywordRank: Schema.optionalKey(Schema.Int),
  recallRank: Schema.Int,
  recallScore: Schema.Finite,
  rerankScore: Schema.optionalKey(Schema.Finite),
  rerankRank: Schema.Int,
  kept: Schema.Boolean,
  sameAs: Schema.optionalKey(Schema.String)
})

const weights = Schema.Struct({ vector: Schema.Finite, keywords: Schema.Finite })

export const Fusion = Schema.Union([
  Schema.Struct({ _tag: Schema.Literal("Rrf"), k: Schema.Finite, weights }),
  Schema.Struct({ _tag: Schema.Literal("MinMax"), weights }),
  Schema.Struct({ _tag: Schema.Literal("Dense") }),
  Schema.Struct({ _tag: Schema.Literal("Keywords") })
])

export const StageTime = Schema.Struct({
  stage: Schema.Literals(["embed", "recall", "rerank", "look", "read"]),
  milliseconds: Schema.Finite,
  tokens: Schema.optionalKey(Schema.Int),
  failed: Schema.optionalKey(Schema.String)
})

export const Trace = Schema.Struct({
  question: Schema.String,
  collection: Schema.String,
  embeddingModel: Schema.String,
  rerankModel: Schema.String,
  readerModel: Schema.optionalKey(Schema.String),
  visionModel: Schema.optionalKey(Schema.String),
  fusion: Fusion,
  candidates: Schema.Int,
  passages: Schema.Array(TracedPassage),
  stages: Schema.Array(StageTime)
})

export const Citation = Schema.Struct({
  ...span,
  n: Schema.Int,
  document: Schema.String,
  documentId: Schema.String,
  title: Schema.String,
  passageId: Schema.String,
  headings: Schema.Array(Schema.String),
  quote: Schema.String,
  page: Schema.optionalKey(Schema.Int),
  figure: Schema.optionalKey(PassageFigure),
  seen: Schema.optionalKey(Schema.Literal(true)),
  boxes: Schema.Array(Schema.Struct({ page: Schema.Int, box: Box }))
})

export const AnswerSentence = Schema.Struct({
  text: Schema.String,
  citations: Schema.Array(Schema.Int)
})

export const FigureLook = Schema.Struct({
  figure: PassageFigure,
  document: Schema.String,
  documentId: Schema.String,
  passageId: Schema.String,
  said: Schema.String,
  tokens: Schema.Int,
  detail: ImageDetail,
  cached: Schema.Boolean,
  failed: Schema.optionalKey(Schema.String)
})

export const Answer = Schema.Struct({
  question: Schema.String,
  found: Schema.Boolean,
  answer: Schema.String,
  sentences: Schema.Array(AnswerSentence),
  citations: Schema.Array(Citation),
  dropped: Schema.Int,
  figures: Schema.Array(FigureLook),
  trace: Trace,
  /** What the question took from the balance, in quota units; absent where the ledger could not say. */
  cost: Schema.optionalKey(Schema.Int)
})

/** The last event of a stream that broke off; nothing follows it. */
export const StreamFailed = Schema.Struct({
  type: Schema.Literal("error"),
  error: ErrorBody.fields.error
})

/** Stages as they finish, sentences as they come, the whole answer last, or `error`. */
export const AnswerEvent = Schema.Union([
  Schema.Struct({ type: Schema.Literal("stage"), stage: StageTime }),
  Schema.Struct({ type: Schema.Literal("recalled"), passages: Schema.Array(TracedPassage) }),
  Schema.Struct({ type: Schema.Literal("looked"), look: FigureLook }),
  Schema.Struct({
    type: Schema.Literal("sentence"),
    sentence: AnswerSentence,
    citations: Schema.Array(Citation)
  }),
  Schema.Struct({ type: Schema.Literal("answer"), answer: Answer }),
  StreamFailed
])

export type Answer = typeof Answer.Type
export type AnswerEvent = typeof AnswerEvent.Type
export type Citation = typeof Citation.Type
export type PassageFigure = typeof PassageFigure.Type
export type Trace = typeof Trace.Type
