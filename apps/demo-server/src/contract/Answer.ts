/** A cited answer, its trace, and the events of a streamed answer. The types are those of `@sluice/rag`. */
import { ErrorBody, ImageDetail } from "@sluice/core/contract"
import type { NotRead } from "@sluice/core"
import type * as Rag from "@sluice/rag"
import { Schema } from "effect"
import { BoxSchema, LineSchema } from "./Document.ts"

export type { Citation, PassageFigure, Trace } from "@sluice/rag"

const span = { start: Schema.Int, end: Schema.Int }

const PassageFigureSchema: Schema.Codec<Rag.PassageFigure> = Schema.Struct({
  kind: Schema.Literals(["figure", "table"]),
  number: Schema.optionalKey(Schema.String),
  caption: Schema.String,
  page: Schema.optionalKey(Schema.Int),
  box: Schema.optionalKey(BoxSchema),
  crop: Schema.optionalKey(Schema.String)
})

/** Where a passage is in the library. */
const placeFields = {
  ...span,
  id: Schema.String,
  headings: Schema.Array(Schema.String),
  page: Schema.optionalKey(Schema.Int),
  locator: Schema.optionalKey(Schema.String),
  document: Schema.Struct({
    id: Schema.String,
    path: Schema.String,
    title: Schema.String,
    format: Schema.String
  })
}

const storedPassageFields = {
  ...placeFields,
  ordinal: Schema.Int,
  text: Schema.String,
  lines: Schema.Array(LineSchema),
  figure: Schema.optionalKey(PassageFigureSchema)
}

const StoredPassageSchema: Schema.Codec<Rag.StoredPassage> = Schema.Struct(storedPassageFields)

const TracedPassageSchema: Schema.Codec<Rag.TracedPassage> = Schema.Struct({
  passage: StoredPassageSchema,
  similarity: Schema.optionalKey(Schema.Finite),
  vectorRank: Schema.optionalKey(Schema.Int),
  keywordScore: Schema.optionalKey(Schema.Finite),
  keywordRank: Schema.optionalKey(Schema.Int),
  recallRank: Schema.Int,
  recallScore: Schema.Finite,
  rerankScore: Schema.optionalKey(Schema.Finite),
  rerankRank: Schema.Int,
  kept: Schema.Boolean,
  sameAs: Schema.optionalKey(Schema.String),
  places: Schema.optionalKey(
    Schema.Record(
      Schema.String,
      Schema.Struct({ rank: Schema.optionalKey(Schema.Int), score: Schema.optionalKey(Schema.Finite) })
    )
  )
})

const weights = Schema.Struct({ vector: Schema.Finite, keywords: Schema.Finite })

const FusionSchema: Schema.Codec<Rag.Fusion> = Schema.Union([
  Schema.Struct({ _tag: Schema.Literal("Rrf"), k: Schema.Finite, weights }),
  Schema.Struct({ _tag: Schema.Literal("MinMax"), weights }),
  Schema.Struct({ _tag: Schema.Literal("Dense") }),
  Schema.Struct({ _tag: Schema.Literal("Keywords") })
])

const StageTimeSchema: Schema.Codec<Rag.StageTime> = Schema.Struct({
  stage: Schema.String,
  milliseconds: Schema.Finite,
  tokens: Schema.optionalKey(Schema.Int),
  calls: Schema.optionalKey(Schema.Int),
  failed: Schema.optionalKey(Schema.String)
})

/** How a follow-up was understood. */
const StandaloneSchema: Schema.Codec<Rag.Standalone> = Schema.Struct({
  question: Schema.String,
  by: Schema.Literals(["model", "carried", "caller"])
})

const TraceSchema: Schema.Codec<Rag.Trace> = Schema.Struct({
  question: Schema.String,
  collection: Schema.String,
  embeddingModel: Schema.String,
  rerankModel: Schema.String,
  readerModel: Schema.optionalKey(Schema.String),
  visionModel: Schema.optionalKey(Schema.String),
  verifierModel: Schema.optionalKey(Schema.String),
  rewriterModel: Schema.optionalKey(Schema.String),
  fusion: FusionSchema,
  candidates: Schema.Int,
  passages: Schema.Array(TracedPassageSchema),
  stages: Schema.Array(StageTimeSchema)
})

const CitationSchema: Schema.Codec<Rag.Citation> = Schema.Struct({
  ...span,
  n: Schema.Int,
  document: Schema.String,
  documentId: Schema.String,
  title: Schema.String,
  passageId: Schema.String,
  headings: Schema.Array(Schema.String),
  quote: Schema.String,
  quoted: Schema.Literals(["model", "matched"]),
  page: Schema.optionalKey(Schema.Int),
  locator: Schema.optionalKey(Schema.String),
  figure: Schema.optionalKey(PassageFigureSchema),
  seen: Schema.optionalKey(Schema.Literal(true)),
  boxes: Schema.Array(Schema.Struct({ page: Schema.Int, box: BoxSchema }))
})

const AnswerSentenceSchema: Schema.Codec<Rag.AnswerSentence> = Schema.Struct({
  text: Schema.String,
  citations: Schema.Array(Schema.Int),
  unsupported: Schema.optionalKey(Schema.String)
})

const FigureLookSchema: Schema.Codec<Rag.FigureLook> = Schema.Struct({
  figure: PassageFigureSchema,
  document: Schema.String,
  documentId: Schema.String,
  passageId: Schema.String,
  said: Schema.String,
  tokens: Schema.Int,
  detail: ImageDetail,
  cached: Schema.Boolean,
  failed: Schema.optionalKey(Schema.String)
})

const ClosestPassageSchema: Schema.Codec<Rag.ClosestPassage> = Schema.Struct({
  passage: StoredPassageSchema,
  matches: Schema.Array(Schema.Struct(span))
})

const NotReadSchema: Schema.Codec<NotRead> = Schema.Struct({
  reason: Schema.Literals(["truncated", "filtered", "refused", "protocol", "unproven", "unsupported"]),
  message: Schema.String,
  advice: Schema.String
})

/** The answer of `@sluice/rag` with its cost. */
export const AnswerBody = Schema.Struct({
  question: Schema.String,
  standalone: Schema.optionalKey(StandaloneSchema),
  found: Schema.Boolean,
  outcome: Schema.Literals(["answer", "passages", "nothing", "unread"]),
  notRead: Schema.optionalKey(NotReadSchema),
  answer: Schema.String,
  sentences: Schema.Array(AnswerSentenceSchema),
  citations: Schema.Array(CitationSchema),
  closest: Schema.Array(ClosestPassageSchema),
  dropped: Schema.Int,
  unsupported: Schema.Int,
  figures: Schema.Array(FigureLookSchema),
  trace: TraceSchema,
  /** Quota units that the question cost; absent if the ledger could not be read. */
  cost: Schema.optionalKey(Schema.Int)
} satisfies Record<keyof Rag.Answer | "cost", Schema.Top>)
export type AnswerBody = typeof AnswerBody.Type

/** The passages kept for a question, best first, and the trace of all that were retrieved. */
export const RetrievalBody = Schema.Struct({
  passages: Schema.Array(
    Schema.Struct({
      ...storedPassageFields,
      /** From 1. */
      rank: Schema.Int,
      /** The reranker's score, or that of the fused list if it was not reranked. Higher is better. */
      score: Schema.Finite,
      /** Other passages found with the same or nearly the same text. */
      alsoAt: Schema.optionalKey(Schema.Array(Schema.Struct(placeFields))),
      /** With the option `expand: "section"`: the passage and its neighbours under the same headings. */
      section: Schema.optionalKey(Schema.Array(StoredPassageSchema)),
      /** As attached to the document at the upload. */
      metadata: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
      /** `url` of the metadata, if it is an http or https address. */
      url: Schema.optionalKey(Schema.String)
    })
  ),
  trace: TraceSchema,
  /** Quota units that the question cost; absent if the ledger could not be read. */
  cost: Schema.optionalKey(Schema.Int)
})
export type RetrievalBody = typeof RetrievalBody.Type

/** The last event of a stream that failed. */
export const StreamFailed = Schema.Struct({
  type: Schema.Literal("error"),
  error: ErrorBody.fields.error
})

/**
 * Events of a streamed answer. The last one is `answer`, with the whole answer, or `error`. `text` is provisional until a
 * `sentence` settles it or `withdrawn` takes it back.
 */
export const AnswerStreamEvent = Schema.Union([
  Schema.Struct({ type: Schema.Literal("standalone"), standalone: StandaloneSchema }),
  Schema.Struct({ type: Schema.Literal("stage"), stage: StageTimeSchema }),
  Schema.Struct({ type: Schema.Literal("recalled"), passages: Schema.Array(TracedPassageSchema) }),
  Schema.Struct({ type: Schema.Literal("looked"), look: FigureLookSchema }),
  Schema.Struct({ type: Schema.Literal("text"), text: Schema.String }),
  Schema.Struct({ type: Schema.Literal("withdrawn"), text: Schema.String }),
  Schema.Struct({
    type: Schema.Literal("sentence"),
    sentence: AnswerSentenceSchema,
    citations: Schema.Array(CitationSchema)
  }),
  Schema.Struct({ type: Schema.Literal("answer"), answer: AnswerBody }),
  StreamFailed
])
export type AnswerStreamEvent = typeof AnswerStreamEvent.Type
