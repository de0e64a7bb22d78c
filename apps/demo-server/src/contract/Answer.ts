/** A cited answer, its trace, and the events of a streamed answer. The types are those of `@sluice/rag`. */
import { field, ErrorBody, ImageDetail } from "@sluice/core/contract"
import type { NotRead } from "@sluice/core/models"
import type * as Rag from "@sluice/rag"
import { Schema } from "effect"
import { BoxSchema, LineSchema, MetadataSchema, spanFields } from "./Document.ts"

export type { Citation, PassageFigure, Trace } from "@sluice/rag"

const { optionalKey } = Schema

const metadata = field("As attached to the document at the upload.", optionalKey(MetadataSchema))

export const costField = (what: "question" | "summary") =>
  field(`Quota units that the ${what} cost; absent if the ledger could not be read.`, optionalKey(Schema.Int))

const PassageFigureSchema: Schema.Codec<Rag.PassageFigure> = Schema.Struct({
  kind: field("A figure or a table.", Schema.Literals(["figure", "table"])),
  number: field("From the caption: `3`, `2.1`, `IV`.", optionalKey(Schema.String)),
  caption: field("The caption; empty if there is none.", Schema.String),
  page: field("The page, from 1.", optionalKey(Schema.Int)),
  box: field("Its place on the page.", optionalKey(BoxSchema)),
  crop: field("SHA-256 of its image. Absent without one.", optionalKey(Schema.String))
})

/** Where a passage is in the library. */
const placeFields = {
  ...spanFields,
  id: field("The passage's id.", Schema.String),
  headings: field("The headings above the passage, outermost first.", Schema.Array(Schema.String)),
  page: field("The page on which it starts, from 1.", optionalKey(Schema.Int)),
  locator: field("The place in a format without pages: `Fees!A12`, `slide 7`.", optionalKey(Schema.String)),
  document: field(
    "The document.",
    Schema.Struct({
      id: field("The document's id.", Schema.String),
      path: field("The path that is shown to people.", Schema.String),
      title: field("The title, or the name of the file.", Schema.String),
      format: field("The identifier of its format.", Schema.String)
    })
  )
}

const storedPassageFields = {
  ...placeFields,
  ordinal: field("0, 1, 2 … within the document.", Schema.Int),
  text: field("The passage.", Schema.String),
  lines: field("Its lines. Empty in documents without pages.", Schema.Array(LineSchema)),
  figure: field("Only for a figure or a table.", optionalKey(PassageFigureSchema))
}

const StoredPassageSchema: Schema.Codec<Rag.StoredPassage> = Schema.Struct(storedPassageFields)

const TracedPassageSchema: Schema.Codec<Rag.TracedPassage> = Schema.Struct({
  passage: field("The passage.", StoredPassageSchema),
  similarity: field("Cosine similarity to the question, -1 to 1.", optionalKey(Schema.Finite)),
  vectorRank: field("The rank by vectors, from 1.", optionalKey(Schema.Int)),
  keywordScore: field("The score by keywords (BM25); higher is better.", optionalKey(Schema.Finite)),
  keywordRank: field("The rank by keywords, from 1.", optionalKey(Schema.Int)),
  recallRank: field("The rank of the fused list, from 1.", Schema.Int),
  recallScore: field("The score of the fused list; higher is better.", Schema.Finite),
  rerankScore: field("The reranker's score; higher is better.", optionalKey(Schema.Finite)),
  rerankRank: field("The rank after reranking, from 1.", Schema.Int),
  kept: field("Whether it is used for the answer.", Schema.Boolean),
  part: field("The part of the question that found it, from 1.", optionalKey(Schema.Int)),
  sameAs: field("The passage with nearly the same text that is used instead.", optionalKey(Schema.String)),
  places: field(
    "The rank and the score by each other retriever.",
    optionalKey(
      Schema.Record(
        Schema.String,
        Schema.Struct({
          rank: field("The rank, from 1.", optionalKey(Schema.Int)),
          score: field("The score; higher is better.", optionalKey(Schema.Finite))
        })
      )
    )
  )
})

const weights = Schema.Struct({
  vector: field("The weight of the vectors.", Schema.Finite),
  keywords: field("The weight of the keywords.", Schema.Finite)
})

const FusionSchema: Schema.Codec<Rag.Fusion> = Schema.Union([
  Schema.Struct({
    _tag: field("How lists are fused: by ranks.", Schema.Literal("Rrf")),
    k: field("How much the first ranks count: less, the larger it is.", Schema.Finite),
    weights: field("The weight of each list.", weights)
  }),
  Schema.Struct({
    _tag: field("How lists are fused: by scores.", Schema.Literal("MinMax")),
    weights: field("The weight of each list.", weights)
  }),
  Schema.Struct({ _tag: field("No fusion: vectors only.", Schema.Literal("Dense")) }),
  Schema.Struct({ _tag: field("No fusion: keywords only.", Schema.Literal("Keywords")) })
])

const StageTimeSchema: Schema.Codec<Rag.StageTime> = Schema.Struct({
  stage: field("The name of the stage.", Schema.String),
  milliseconds: field("How long it took.", Schema.Finite),
  tokens: field("The tokens that its models counted.", optionalKey(Schema.Int)),
  calls: field("The calls of models.", optionalKey(Schema.Int)),
  texts: field("Texts that were searched besides the question.", optionalKey(Schema.Array(Schema.String))),
  sql: field("The query over tables that a model wrote.", optionalKey(Schema.String)),
  failed: field("Why it failed. The answer went on without it.", optionalKey(Schema.String))
})

/** How a follow-up was understood. */
const StandaloneSchema: Schema.Codec<Rag.Standalone> = Schema.Struct({
  question: field("The question as it was understood.", Schema.String),
  by: field(
    "Who completed it: a model, words of an earlier turn, or the caller.",
    Schema.Literals(["model", "carried", "caller"])
  )
})

const TraceSchema: Schema.Codec<Rag.Trace> = Schema.Struct({
  question: field("The question.", Schema.String),
  collection: field("The collection that was searched.", Schema.String),
  embeddingModel: field("The model of the vectors.", Schema.String),
  rerankModel: field("The model that reranked.", Schema.String),
  readerModel: field("The model that answered.", optionalKey(Schema.String)),
  visionModel: field("The model that looked at figures.", optionalKey(Schema.String)),
  verifierModel: field("The model that verified sentences.", optionalKey(Schema.String)),
  rewriterModel: field("The model that completed the question.", optionalKey(Schema.String)),
  parts: field(
    "What was searched, if the question has several parts.",
    optionalKey(Schema.Array(Schema.String))
  ),
  fusion: field("How the lists were fused.", FusionSchema),
  candidates: field("The number of passages that were found.", Schema.Int),
  passages: field("The passages that were found, best first.", Schema.Array(TracedPassageSchema)),
  stages: field("The time of each stage.", Schema.Array(StageTimeSchema))
})

export const CitationSchema: Schema.Codec<Rag.Citation> = Schema.Struct({
  ...spanFields,
  n: field("The number of the citation in the answer, from 1.", Schema.Int),
  document: field("The path of the document.", Schema.String),
  documentId: field("The document's id.", Schema.String),
  title: field("The title of the document.", Schema.String),
  url: field("The document's URL.", optionalKey(Schema.String)),
  metadata,
  score: field(
    "The reranker's score of the passage; higher is better. Absent for a neighbour that was read along.",
    optionalKey(Schema.Finite)
  ),
  passageId: field("The passage's id.", Schema.String),
  headings: field("The headings above it, outermost first.", Schema.Array(Schema.String)),
  quote: field("The words of the source, verbatim.", Schema.String),
  quoted: field("Whether the model or the server chose the words.", Schema.Literals(["model", "matched"])),
  page: field("The page, from 1.", optionalKey(Schema.Int)),
  locator: field("The place in a format without pages: `Fees!A12`, `slide 7`.", optionalKey(Schema.String)),
  figure: field("The figure or table that is cited.", optionalKey(PassageFigureSchema)),
  seen: field("True if a model looked at the figure.", optionalKey(Schema.Literal(true))),
  boxes: field(
    "Where the quote is on its pages.",
    Schema.Array(
      Schema.Struct({
        page: field("The page, from 1.", Schema.Int),
        box: field("The place on the page.", BoxSchema)
      })
    )
  )
})

export const AnswerSentenceSchema: Schema.Codec<Rag.AnswerSentence> = Schema.Struct({
  text: field("The sentence.", Schema.String),
  citations: field("The numbers of its citations.", Schema.Array(Schema.Int)),
  unsupported: field("Why its quotes do not support it.", optionalKey(Schema.String))
})

const FigureLookSchema: Schema.Codec<Rag.FigureLook> = Schema.Struct({
  figure: field("The figure.", PassageFigureSchema),
  document: field("The path of the document.", Schema.String),
  documentId: field("The document's id.", Schema.String),
  passageId: field("The passage's id.", Schema.String),
  said: field("What the model saw.", Schema.String),
  tokens: field("The tokens that the model counted.", Schema.Int),
  detail: field("The resolution at which it was read.", ImageDetail),
  cached: field("Whether the answer was stored before.", Schema.Boolean),
  failed: field("Why it could not be looked at.", optionalKey(Schema.String))
})

const ClosestPassageSchema: Schema.Codec<Rag.ClosestPassage> = Schema.Struct({
  passage: field("The passage.", StoredPassageSchema),
  matches: field(
    "Where words of the question are in the passage's text.",
    Schema.Array(Schema.Struct(spanFields))
  )
})

export const NotReadSchema: Schema.Codec<NotRead> = Schema.Struct({
  reason: field(
    "Why the passages were not read.",
    Schema.Literals(["truncated", "filtered", "refused", "protocol", "unproven", "unsupported"])
  ),
  message: field("What happened.", Schema.String),
  advice: field("What to do.", Schema.String)
})

const AnsweredPartSchema: Schema.Codec<Rag.AnsweredPart> = Schema.Struct({
  question: field("The part.", Schema.String),
  found: field("Whether a sentence answers it.", Schema.Boolean)
})

/** The answer of `@sluice/rag` with its cost. */
export const AnswerBody = Schema.Struct({
  question: field("The question.", Schema.String),
  standalone: field("The question that was answered, if it was another one.", optionalKey(StandaloneSchema)),
  found: field("Whether there is an answer.", Schema.Boolean),
  outcome: field(
    "The kind of answer. `unread`: the model failed.",
    Schema.Literals(["answer", "passages", "nothing", "unread"])
  ),
  parts: field("The parts of a question that has several.", optionalKey(Schema.Array(AnsweredPartSchema))),
  notRead: field("Only with `unread`.", optionalKey(NotReadSchema)),
  answer: field("The sentences as one text; without an answer, a sentence that says so.", Schema.String),
  sentences: field("The sentences of the answer.", Schema.Array(AnswerSentenceSchema)),
  citations: field("The sources, by number.", Schema.Array(CitationSchema)),
  closest: field("The closest passages, if there is no answer.", Schema.Array(ClosestPassageSchema)),
  dropped: field("The number of sentences left out because their quotes are not in the sources.", Schema.Int),
  unsupported: field("The number of sentences that their quotes do not support.", Schema.Int),
  figures: field("The figures that were looked at.", Schema.Array(FigureLookSchema)),
  trace: field("How the sources were chosen.", TraceSchema),
  cost: costField("question"),
  conversation: field(
    "Where the answer is kept; absent without a conversation.",
    optionalKey(
      Schema.Struct({
        id: field("The conversation.", Schema.String),
        turn: field("The number of the turn, from 1.", Schema.Int)
      })
    )
  )
} satisfies Record<keyof Rag.Answer | "conversation" | "cost", Schema.Top>)
export type AnswerBody = typeof AnswerBody.Type

/** The passages kept for a question, best first, and the trace of all that were retrieved. */
export const RetrievalBody = Schema.Struct({
  passages: field(
    "The passages that were kept, best first.",
    Schema.Array(
      Schema.Struct({
        ...storedPassageFields,
        rank: field("The rank, from 1.", Schema.Int),
        score: field(
          "The reranker's score, or that of the fused list if it was not reranked. Higher is better.",
          Schema.Finite
        ),
        alsoAt: field(
          "Other passages found with the same or nearly the same text.",
          optionalKey(Schema.Array(Schema.Struct(placeFields)))
        ),
        section: field(
          "With the option `expand`, `section`: the passage and its neighbours under the same headings.",
          optionalKey(Schema.Array(StoredPassageSchema))
        ),
        metadata,
        url: field(
          "The document's URL, or `url` of its metadata, if it is an http or https address.",
          optionalKey(Schema.String)
        )
      })
    )
  ),
  trace: field("How the passages were chosen.", TraceSchema),
  cost: costField("question")
})
export type RetrievalBody = typeof RetrievalBody.Type

/** One kind of event of a stream. */
export const streamEvent = <const Type extends string, Fields extends Schema.Struct.Fields>(
  type: Type,
  what: string,
  fields: Fields
) => Schema.Struct({ type: field(`The kind of the event: ${what}.`, Schema.Literal(type)), ...fields })

/** The last event of a stream that failed. */
export const StreamFailed = Schema.Struct({
  type: field("The kind of the event.", Schema.Literal("error")),
  error: field("What failed.", ErrorBody.fields.error)
})

/**
 * Events of a streamed answer. The last one is `answer`, with the whole answer, or `error`. `text` is provisional until a
 * `sentence` settles it or `withdrawn` takes it back.
 */
export const AnswerStreamEvent = Schema.Union([
  streamEvent("standalone", "the question was completed", {
    standalone: field("The question that is answered.", StandaloneSchema)
  }),
  streamEvent("stage", "a stage has ended", { stage: field("The stage.", StageTimeSchema) }),
  streamEvent("recalled", "passages were found", {
    passages: field("The passages.", Schema.Array(TracedPassageSchema))
  }),
  streamEvent("looked", "a figure was looked at", {
    look: field("The figure, and what the model saw.", FigureLookSchema)
  }),
  streamEvent("text", "more of the answer", { text: field("The next piece. Provisional.", Schema.String) }),
  streamEvent("withdrawn", "a piece is taken back", { text: field("The piece.", Schema.String) }),
  streamEvent("sentence", "a sentence is final", {
    sentence: field("The sentence.", AnswerSentenceSchema),
    citations: field("Its sources.", Schema.Array(CitationSchema))
  }),
  streamEvent("answer", "the end", { answer: field("The whole answer.", AnswerBody) }),
  StreamFailed
])
export type AnswerStreamEvent = typeof AnswerStreamEvent.Type
