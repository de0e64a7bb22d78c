/** How well retrieval finds what people judged to be relevant. */
import { join } from "node:path"
import { Embedder, Reranker } from "@sluice/core"
import { Effect, type Scope, Stream } from "effect"
import { collectionFolder, corpusOf, judgementsOf, queriesOf } from "./Beir.ts"
import { type Comparison, compareRuns, type MeasuredQueries } from "./Comparison.ts"
import { fillCollection } from "./JudgedCollection.ts"
import { meteredModels } from "./MeteredModels.ts"
import { hasRelevant } from "./Metrics.ts"
import { type EvaluatedRun, type JudgedQuestion, measureWays, type Way } from "./Runs.ts"
import { scratchFolder } from "./ScratchCollection.ts"
import type { Place } from "../retrieval/stages/RetrievalStage.ts"
import { fuse } from "../retrieval/stages/Fuse.ts"
import { Fusion, FUSION, retrieversOf } from "../retrieval/stages/Fusion.ts"
import { indexKeywords } from "../store/lance/LanceKeywords.ts"
import { modelError } from "../embedding/PassageEmbedder.ts"
import type { Collection } from "../store/PassageIndex.ts"
import { RagError } from "../document/RagError.ts"
import { makeRetriever, type Retrieval, type Retriever } from "../retrieval/Retriever.ts"
import type { RetrieveOptions } from "../retrieval/stages/RetrieveOptions.ts"
import { searchWords } from "../document/SearchText.ts"

/** Documents that a ranking has: as many as the deepest metric looks at. */
export const DEPTH = 100

/** A configuration that is measured beside the others. */
export interface Configuration {
  readonly name: string
  readonly options: RetrieveOptions
}

/** All runs over one collection, and how clear the differences between them are. */
export interface Evaluation {
  readonly collection: string
  readonly queries: number
  readonly runs: ReadonlyArray<EvaluatedRun>
  /** `default` against `bm25` first, then the configurations. */
  readonly comparisons: ReadonlyArray<Comparison>
  /** What each query came to, for reports: every run's, in one order. */
  readonly each: ReadonlyArray<MeasuredQueries>
}

/**
 * Runs every question of `<data>/retrieval/<collection>` through every way of retrieving.
 *
 * **Details.** `bm25` is full text over title and text alone, `embeddings` the vectors alone, `hybrid` both
 * fused without a reranker, `default` the retriever
 * as `Library.open` makes it when nothing is set. A document of the collection is one passage; all go through the
 * store and the search that a library uses, in a temporary folder. A ranking is what the retriever keeps, each
 * followed by those that say the same and are named with it, then the others that it reranked, then the rest in the
 * order of recall. Configurations are compared with one another, or one alone with `default`.
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
    const scratch = yield* scratchFolder
    const texts = yield* corpusOf(folder).pipe(
      Stream.map(({ _id, text, title }) => ({ id: _id, text: title ? `${title}\n${text}` : text })),
      Stream.runCollect
    )
    const relevant = relevantIn(judgements)
    if (!texts.some(({ id }) => relevant.has(id))) return yield* nothingToFind(folder)
    const byKeywords = yield* indexKeywords(join(scratch, "keywords"), texts)
    const { embedder, meter, reranker } = yield* meteredModels
    const measured = yield* Effect.gen(function* () {
      const filled = yield* fillCollection(join(scratch, "vectors"), corpusOf(folder))
      const retriever = yield* makeRetriever(Effect.succeed(filled.collection))
      const ways: ReadonlyArray<Way> = [
        { name: "bm25", search: (question) => byKeywords(question, DEPTH) },
        yield* recalled("embeddings", filled.collection, Fusion.dense),
        yield* recalled("hybrid", filled.collection, FUSION),
        configured("embeddings+rerank", retriever, { fusion: Fusion.dense }),
        configured("default", retriever, {}),
        ...configurations.map(({ name, options }) => configured(name, retriever, options))
      ]
      return yield* measureWays(ways, judgedQuestions(folder, judgements), meter, onQuestion)
    }).pipe(Effect.provideService(Embedder, embedder), Effect.provideService(Reranker, reranker))
    if (measured.queries === 0) return yield* nothingToFind(folder)
    return {
      collection: name,
      queries: measured.queries,
      runs: measured.runs,
      comparisons: comparisonsOf(measured.each, configurations),
      each: measured.each
    }
  }
)

type Judged = Effect.Success<ReturnType<typeof judgementsOf>>

const relevantIn = (judged: Judged): ReadonlySet<string> =>
  new Set([...judged.values()].flatMap((own) => [...own].flatMap(([id, grade]) => (grade > 0 ? [id] : []))))

const nothingToFind = (folder: string): Effect.Effect<never, RagError> =>
  Effect.fail(
    new RagError({
      stage: "evaluate",
      reason: "Empty",
      message: `${folder} has no question with a relevant document, so nothing was measured. Compare the identifiers of its judgements with those of corpus.jsonl and queries.jsonl.`
    })
  )

const judgedQuestions = (folder: string, judgements: Judged): Stream.Stream<JudgedQuestion, RagError> =>
  queriesOf(folder).pipe(
    Stream.map(({ _id, text }) => ({ text, judgements: judgements.get(_id) ?? new Map() })),
    Stream.filter(({ judgements }) => hasRelevant(judgements))
  )

/** The first stage alone: what the store finds, in the order of a fusion. */
const recalled = Effect.fn("Evaluation.recalled")(function* (
  name: string,
  collection: Collection,
  fusion: Fusion
) {
  const { embed } = yield* Embedder
  const { keywords } = retrieversOf(fusion)
  const way: Way = {
    name,
    search: Effect.fn("Evaluation.recall")(function* (question: string) {
      const { vectors } = yield* embed([question], "query").pipe(
        Effect.mapError((error) => modelError("evaluate", error))
      )
      const vector = vectors[0]?.some((value) => value !== 0) === true ? vectors[0] : undefined
      const words = keywords ? searchWords(question) : undefined
      if (vector === undefined && words === undefined) return []
      const hits = yield* collection.search({ vector, words, limit: DEPTH })
      return fuse(fusion, hits).map(({ hit }) => hit.passage.document.path)
    })
  }
  return way
})

const configured = (name: string, retriever: Retriever, options: RetrieveOptions): Way => ({
  name,
  search: (question) =>
    Effect.map(retriever.retrieve(question, options), (found) =>
      ordered(found, ({ document }) => document.path)
    ),
  rest: (question) =>
    Effect.map(
      retriever.retrieve(question, { ...options, recall: Math.max(DEPTH, options.recall ?? 0) }),
      ({ trace }) => trace.passages.map(({ passage }) => passage.document.path)
    )
})

/**
 * What is kept, each followed by the places that say the same, then what was reranked and not kept, by the name that is
 * judged; each counts where it comes first.
 */
export const ordered = (
  { kept, trace }: Retrieval,
  nameOf: (place: Place) => string
): ReadonlyArray<string> => {
  const reranked = trace.passages.toSorted((a, b) => a.rerankRank - b.rerankRank)
  const shown = kept.flatMap((passage) => [
    passage,
    ...reranked.filter(({ sameAs }) => sameAs === passage.id).map((copy) => copy.passage),
    ...(passage.alsoAt ?? [])
  ])
  return [...new Set([...shown, ...reranked.map(({ passage }) => passage)].map(nameOf))]
}

/** `default` against `bm25`; then two configurations against each other, or one against `default`. */
export const comparisonsOf = (
  each: ReadonlyArray<MeasuredQueries>,
  configurations: ReadonlyArray<Configuration>
): ReadonlyArray<Comparison> => {
  const run = (name: string) => each.find((one) => one.name === name)
  const [first, second] = configurations.map(({ name }) => name)
  const pairs: ReadonlyArray<readonly [string, string]> = [
    ["default", "bm25"],
    ...(first === undefined ? [] : [[first, second ?? "default"] as const])
  ]
  return pairs.flatMap(([a, b]) => {
    const runs = [run(a), run(b)]
    return runs[0] === undefined || runs[1] === undefined ? [] : [compareRuns(runs[0], runs[1])]
  })
}
