/** Measures how well retrieval finds the documents that people judged relevant. */
import { join } from "node:path"
import { Embedder, Reranker } from "@sluice/core"
import { Effect, type Scope, Stream } from "effect"
import { RagError } from "../document/RagError.ts"
import { searchWords } from "../document/SearchText.ts"
import { modelError } from "../embedding/PassageEmbedder.ts"
import { makeRetriever, type Retrieval, type Retriever } from "../retrieval/Retriever.ts"
import { fuse } from "../retrieval/stages/Fuse.ts"
import { Fusion, FUSION, retrieversOf } from "../retrieval/stages/Fusion.ts"
import type { Place } from "../retrieval/stages/RetrievalStage.ts"
import type { RetrieveOptions } from "../retrieval/stages/RetrieveOptions.ts"
import { indexKeywords } from "./KeywordIndex.ts"
import type { Collection } from "../store/PassageIndex.ts"
import { collectionFolder, corpusOf, judgementsOf, queriesOf } from "./Beir.ts"
import { type Comparison, compareRuns, type MeasuredQueries } from "./Comparison.ts"
import { meteredModels } from "./MeteredModels.ts"
import { hasRelevant } from "./Metrics.ts"
import { type EvaluatedRun, measureMethods, type SearchMethod } from "./Runs.ts"
import { judgedCollection, temporaryFolder } from "./TemporaryCollection.ts"

/** Documents of a ranking: the depth of the deepest metric. */
export const DEPTH = 100

export interface Configuration {
  readonly name: string
  readonly options: RetrieveOptions
}

/** All runs over one collection, and how significant their differences are. */
export interface Evaluation {
  readonly collection: string
  readonly queries: number
  readonly runs: ReadonlyArray<EvaluatedRun>
  /** `default` against `bm25` first, then the configurations. */
  readonly comparisons: ReadonlyArray<Comparison>
  /** The metrics of each query, for reports, in the same order for all runs. */
  readonly each: ReadonlyArray<MeasuredQueries>
}

/**
 * Asks every question of `<data>/retrieval/<collection>` with every search method.
 *
 * **Details.** `bm25` is full text search over title and text, `embeddings` vector search, `hybrid` both fused without a
 * reranker, `default` the retriever without options. Each document is one passage. All go through the store and the search
 * of a library, in a temporary folder. A ranking is: the kept passages, each followed by its duplicates, then the other
 * reranked ones, then the rest in the order of recall. Two configurations are compared with each other, one with `default`.
 */
export const evaluateRetrieval: (options: {
  readonly data: string
  readonly collection: string
  readonly configurations?: ReadonlyArray<Configuration>
  readonly onQuestion?: (asked: number) => Effect.Effect<void>
}) => Effect.Effect<Evaluation, RagError, Embedder | Reranker | Scope.Scope> = Effect.fn("evaluateRetrieval")(
  function* ({ collection: name, configurations = [], data, onQuestion }) {
    const folder = collectionFolder(data, name)
    const judgements = yield* judgementsOf(folder)
    const temporary = yield* temporaryFolder
    const texts = yield* corpusOf(folder).pipe(
      Stream.map(({ _id, text, title }) => ({ id: _id, text: title ? `${title}\n${text}` : text })),
      Stream.runCollect
    )
    const isRelevant = (id: string) => judgements.values().some((own) => (own.get(id) ?? 0) > 0)
    if (!texts.some(({ id }) => isRelevant(id))) return yield* noRelevantDocument(folder)
    const searchKeywords = yield* indexKeywords(join(temporary, "keywords"), texts)
    const { embedder, meter, reranker } = yield* meteredModels
    const measured = yield* Effect.gen(function* () {
      const collection = yield* judgedCollection(join(temporary, "vectors"), corpusOf(folder))
      const { retrieve } = yield* makeRetriever(Effect.succeed(collection))
      const methods: ReadonlyArray<SearchMethod> = [
        { name: "bm25", search: (question) => searchKeywords(question, DEPTH) },
        { name: "embeddings", search: recall(embedder, collection, Fusion.dense) },
        { name: "hybrid", search: recall(embedder, collection, FUSION) },
        ...[
          { name: "embeddings+rerank", options: { fusion: Fusion.dense } },
          { name: "default", options: {} },
          ...configurations
        ].map((configuration) => retrieverMethod(retrieve, configuration, ({ document }) => document.path))
      ]
      const questions = queriesOf(folder).pipe(
        Stream.map(({ _id, text }) => ({
          text,
          judgements: judgements.get(_id) ?? new Map<string, number>()
        })),
        Stream.filter(({ judgements }) => hasRelevant(judgements))
      )
      return yield* measureMethods(methods, questions, meter, onQuestion)
    }).pipe(Effect.provideService(Embedder, embedder), Effect.provideService(Reranker, reranker))
    if (measured.queries === 0) return yield* noRelevantDocument(folder)
    return { collection: name, ...measured, comparisons: comparisonsOf(measured.each, configurations) }
  }
)

const noRelevantDocument = (folder: string): Effect.Effect<never, RagError> => {
  const message = `No question in ${folder} has a relevant document. Compare the identifiers of its judgements with those of corpus.jsonl and queries.jsonl.`
  return Effect.fail(new RagError({ stage: "evaluate", reason: "Empty", message }))
}

/** Searches the store, and fuses the hits. */
const recall = ({ embed }: typeof Embedder.Service, collection: Collection, fusion: Fusion) =>
  Effect.fn("Evaluation.recall")(function* (question: string) {
    const { vectors } = yield* Effect.mapError(embed([question], "query"), modelError("evaluate"))
    const vector = vectors[0]?.some((value) => value !== 0) === true ? vectors[0] : undefined
    const words = retrieversOf(fusion).keywords ? searchWords(question) : undefined
    if (vector === undefined && words === undefined) return []
    const hits = yield* collection.search({ vector, words, limit: DEPTH })
    return fuse(fusion, hits).map(({ hit }) => hit.passage.document.path)
  })

/** The retriever with some options. `nameOf` gives the judged name of a passage. */
export const retrieverMethod = (
  retrieve: Retriever["retrieve"],
  { name, options }: Configuration,
  nameOf: (place: Place) => string
): SearchMethod => ({
  name,
  search: (question) => Effect.map(retrieve(question, options), (found) => rankedNames(found, nameOf)),
  rest: (question) =>
    Effect.map(
      retrieve(question, { ...options, recall: Math.max(DEPTH, options.recall ?? 0) }),
      ({ trace }) => trace.passages.map(({ passage }) => nameOf(passage))
    )
})

/** The judged names of a retrieval: the kept passages, each followed by its duplicates, then the other reranked ones. */
const rankedNames = ({ kept, trace }: Retrieval, nameOf: (place: Place) => string): ReadonlyArray<string> => {
  const reranked = trace.passages.toSorted((a, b) => a.rerankRank - b.rerankRank)
  const withDuplicates = kept.flatMap((passage) => [
    passage,
    ...reranked.filter(({ sameAs }) => sameAs === passage.id).map((duplicate) => duplicate.passage),
    ...(passage.alsoAt ?? [])
  ])
  return [...new Set([...withDuplicates, ...reranked.map(({ passage }) => passage)].map(nameOf))]
}

/** `default` against `bm25`; then two configurations against each other, or one against `default`. */
export const comparisonsOf = (
  each: ReadonlyArray<MeasuredQueries>,
  configurations: ReadonlyArray<Configuration>
): ReadonlyArray<Comparison> => {
  const [first, second] = configurations.map(({ name }) => name)
  const pairs = [["default", "bm25"], ...(first === undefined ? [] : [[first, second ?? "default"]])]
  return pairs.flatMap((names) => {
    const [a, b] = names.map((name) => each.find((run) => run.name === name))
    return a === undefined || b === undefined ? [] : [compareRuns(a, b)]
  })
}
