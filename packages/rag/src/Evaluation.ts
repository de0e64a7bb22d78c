/** How well retrieval finds what people judged to be relevant. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Embedder, type Reranker } from "@sluice/core"
import { Effect, Layer, type Scope, Stream } from "effect"
import { CHUNKER } from "./Chunker.ts"
import { type BeirDocument, corpusOf, judgementsOf, queriesOf } from "./evaluation/Beir.ts"
import { measure, type RunMetrics } from "./evaluation/Metrics.ts"
import { documentId } from "./Draft.ts"
import { indexKeywords } from "./lance/LanceKeywords.ts"
import { LanceIndex } from "./LanceIndex.ts"
import { FORMAT } from "./Manifest.ts"
import {
  embeddedText,
  makePassageEmbedder,
  modelError,
  type PassageEmbedder,
  sha256
} from "./PassageEmbedder.ts"
import { type IndexedDocument, PassageIndex } from "./PassageIndex.ts"
import { RagError } from "./RagError.ts"
import { makeRetriever } from "./Retriever.ts"

/** Documents that a first stage ranks: as many as the deepest metric looks at. */
const DEPTH = 100

const BATCH = 1_000

/** A way of retrieving, and what it reached. */
export interface EvaluatedRun {
  /** `default` is what a user gets who sets nothing. */
  readonly name: "bm25" | "embeddings" | "embeddings+rerank" | "default"
  readonly metrics: RunMetrics
}

/** All runs over one collection. */
export interface Evaluation {
  readonly collection: string
  readonly runs: ReadonlyArray<EvaluatedRun>
}

/**
 * Runs every question of `<data>/retrieval/<collection>` through every way of retrieving.
 *
 * **Details.** A document of the collection is one passage. It goes through the store and the search that a library
 * uses, in a temporary folder. A reranked run's ranking is the 20 reranked, then the first stage's order.
 */
export const evaluateRetrieval: (options: {
  readonly data: string
  readonly collection: string
}) => Effect.Effect<Evaluation, RagError, Embedder | Reranker | Scope.Scope> = Effect.fn("evaluateRetrieval")(
  function* ({ collection, data }) {
    const folder = join(data, "retrieval", collection)
    const judgements = yield* judgementsOf(folder)
    const documents = yield* Stream.runCollect(corpusOf(folder))
    const queries = (yield* Stream.runCollect(queriesOf(folder))).filter(({ _id }) => judgements.has(_id))
    const scratch = yield* scratchFolder
    const byKeywords = yield* indexKeywords(
      join(scratch, "keywords"),
      documents.map(({ _id, text, title }) => ({ id: _id, text: title ? `${title}\n${text}` : text }))
    )
    const byVector = yield* fill(join(scratch, "vectors"), documents)

    const rankings = { bm25: new Map(), embeddings: new Map(), reranked: new Map() } satisfies Record<
      string,
      Map<string, ReadonlyArray<string>>
    >
    for (const { _id, text } of queries) {
      // Such questions are in published collections; nothing is found for them.
      if (text.trim() === "") continue
      rankings.bm25.set(_id, yield* byKeywords(text, DEPTH))
      const { first, reranked } = yield* byVector(text)
      rankings.embeddings.set(_id, first)
      rankings.reranked.set(_id, [...reranked, ...first.filter((id) => !reranked.includes(id))])
    }
    const metrics = {
      bm25: measure(rankings.bm25, judgements),
      embeddings: measure(rankings.embeddings, judgements),
      reranked: measure(rankings.reranked, judgements)
    }
    return {
      collection,
      runs: [
        { name: "bm25", metrics: metrics.bm25 },
        { name: "embeddings", metrics: metrics.embeddings },
        { name: "embeddings+rerank", metrics: metrics.reranked },
        // The library's own way is to recall by embeddings and to rerank.
        { name: "default", metrics: metrics.reranked }
      ]
    }
  }
)

/** Fills a collection, and gives the search: the first stage's ranking, and the reranked head of it. */
const fill = Effect.fn("Evaluation.fill")(function* (folder: string, documents: ReadonlyArray<BeirDocument>) {
  const store = yield* Layer.build(LanceIndex.layer(folder))
  const { dimension: asked, model, embed } = yield* Embedder
  const dimension = yield* asked.pipe(Effect.mapError((error) => modelError("evaluate", error)))
  const collection = yield* Effect.flatMap(PassageIndex, (index) =>
    index.open("evaluation", { format: FORMAT, embeddingModel: model.id, dimension, chunker: CHUNKER })
  ).pipe(Effect.provideContext(store))
  const embedder = yield* makePassageEmbedder(dimension, undefined)
  for (let i = 0; i < documents.length; i += BATCH) {
    yield* collection.commit(yield* indexed(documents.slice(i, i + BATCH), embedder))
  }
  yield* collection.settle
  const retriever = yield* makeRetriever(Effect.succeed(collection), dimension)
  return Effect.fn("Evaluation.search")(function* (question: string) {
    const { vectors } = yield* embed([question], "query").pipe(
      Effect.mapError((error) => modelError("evaluate", error))
    )
    const vector = vectors[0]
    const hits =
      vector?.some((value) => value !== 0) === true ? yield* collection.search({ vector, limit: DEPTH }) : []
    const { trace } = yield* retriever.retrieve(question)
    return {
      first: hits.map(({ passage }) => passage.document.path),
      reranked: trace.passages
        .toSorted((a, b) => a.rerankRank - b.rerankRank)
        .map(({ passage }) => passage.document.path)
    }
  })
})

/** Documents of the collection as documents of one passage; the collection's identifier is the path. */
const indexed = Effect.fn("Evaluation.indexed")(function* (
  documents: ReadonlyArray<BeirDocument>,
  embedder: PassageEmbedder
) {
  const ready = documents.map(({ _id, text, title }) => {
    const passage = { ordinal: 0, start: 0, end: text.length, text, headings: [], lines: [] }
    const embedded = embeddedText(title ?? "", passage)
    return { id: _id, title: title ?? "", passage, hash: sha256(embedded), text: embedded }
  })
  const embeddings = yield* embedder.embed(ready)
  return yield* Effect.forEach(ready, ({ hash, id, passage, text, title }, i) => {
    const embedding = embeddings[i]
    if (embedding?._tag !== "Vector") return Effect.fail(embedding?.error ?? nothing(id))
    const document: IndexedDocument = {
      info: {
        id: documentId(id),
        path: id,
        title,
        format: "text",
        bytes: 0,
        sha256: sha256(id),
        passages: 1
      },
      source: "",
      original: new Uint8Array(),
      attachments: new Map(),
      passages: [{ passage, hash, vector: embedding.vector, search: text }],
      replaces: undefined
    }
    return Effect.succeed(document)
  })
})

const nothing = (id: string): RagError =>
  new RagError({
    stage: "evaluate",
    reason: "Model",
    message: `The embedding model gave nothing for document ${id}.`,
    document: id
  })

const scratchFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "sluice-evaluation-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)
