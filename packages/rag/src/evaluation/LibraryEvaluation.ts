/** Measures how well a library finds its contents, by questions made from it or written by its owner. */
import { join } from "node:path"
import { Embedder, Reranker } from "@sluice/core"
import { Effect, Order, type Scope, Stream } from "effect"
import { sortWith } from "effect/Array"
import { chunk } from "../chunking/Chunker.ts"
import type { Parsed, Span } from "../document/Document.ts"
import { sha256 } from "../document/Hash.ts"
import { RagError } from "../document/RagError.ts"
import type { LibraryService } from "../library/LibraryService.ts"
import { makeRetriever, type Retriever } from "../retrieval/Retriever.ts"
import { Fusion } from "../retrieval/stages/Fusion.ts"
import type { RetrieveOptions } from "../retrieval/stages/RetrieveOptions.ts"
import { comparisonsOf, type Configuration, DEPTH, type Evaluation, retrieverMethod } from "./Evaluation.ts"
import { holdOut, type KnownItem, knownItems, questionKey } from "./KnownItems.ts"
import { type UsageMeter, meteredModels } from "./MeteredModels.ts"
import { answerSpan, type LibraryQuestion } from "./Questions.ts"
import { type JudgedQuestion, measureMethods, type SearchMethod } from "./Runs.ts"
import { parsedCollection, temporaryFolder } from "./TemporaryCollection.ts"

/** The maximum number of questions that are made from a library. */
const QUESTIONS = 200

/** The share of a document's headings and captions that are held out. The others say what the document is about. */
const HELD_SHARE = 1 / 3

interface Options {
  readonly library: LibraryService
  readonly configurations?: ReadonlyArray<Configuration>
  readonly onQuestion?: (asked: number) => Effect.Effect<void>
}

/** An evaluation of a library, and a note about its questions. */
export interface LibraryEvaluation extends Evaluation {
  readonly note: string
}

const SEED = "sluice"

/** A sample by the hash of the keys, so that the samples of similar lists are similar. */
const sampleBy = <A>(values: ReadonlyArray<A>, count: number, key: (value: A) => string): ReadonlyArray<A> =>
  values.length <= count
    ? values
    : sortWith(values, (value) => sha256(SEED + key(value)), Order.String).slice(0, count)

const ANSWER = "answer"
const JUDGEMENTS = new Map([[ANSWER, 1]])

/** A question that is answered by each passage of a document that overlaps a span. */
const judgedQuestion = (text: string, document: string, parsed: Parsed, answer: Span): JudgedQuestion => {
  const passages = new Set(
    chunk(parsed)
      .filter(({ end, start }) => start < answer.end && end > answer.start)
      .map(({ ordinal }) => `${document}#${ordinal}`)
  )
  return { text, judgements: JUDGEMENTS, judgedAs: (id) => (passages.has(id) ? ANSWER : id) }
}

/** Keywords in the order of BM25. With a deadline of 0 the reranker is not called. */
const BM25: RetrieveOptions = { fusion: Fusion.keywords, recall: DEPTH, candidates: DEPTH, deadline: 0 }

/** BM25, the default, and the configurations. */
const searchMethods = (
  retrieve: Retriever["retrieve"],
  configurations: ReadonlyArray<Configuration> = []
): ReadonlyArray<SearchMethod> => [
  {
    name: "bm25",
    search: (question) =>
      Effect.map(retrieve(question, BM25), ({ trace }) => trace.passages.map(({ passage }) => passage.id))
  },
  ...[{ name: "default", options: {} }, ...configurations].map((configuration) =>
    retrieverMethod(retrieve, configuration, ({ id }) => id)
  )
]

const evaluate = Effect.fn("LibraryEvaluation.evaluate")(function* <E>(
  note: string,
  retrieve: Retriever["retrieve"],
  questions: Stream.Stream<JudgedQuestion, E>,
  meter: UsageMeter,
  { configurations = [], onQuestion }: Options
) {
  const methods = searchMethods(retrieve, configurations)
  const measured = yield* measureMethods(methods, questions, meter, onQuestion)
  if (measured.queries === 0) return yield* empty("There is no question. Write one JSON object per line.")
  const comparisons = comparisonsOf(measured.each, configurations)
  const evaluation: LibraryEvaluation = { collection: "library", ...measured, comparisons, note }
  return evaluation
})

/** Headings and captions to ask for, with their documents' identifiers. */
const chooseItems = Effect.fn("LibraryEvaluation.choose")(function* (library: LibraryService, most: number) {
  const candidates: Array<{ readonly document: string; readonly item: KnownItem }> = []
  for (const { id } of yield* library.documents) {
    const items = knownItems((yield* library.document(id)).parsed)
    const own = sampleBy(items, Math.ceil(items.length * HELD_SHARE), ({ question }) => question)
    for (const item of own) candidates.push({ document: id, item })
  }
  const byQuestion = Map.groupBy(candidates, ({ item }) => questionKey(item.question))
  const unique = [...byQuestion.values()].flatMap((same) => (same.length === 1 ? same : []))
  if (unique.length > 0) return sampleBy(unique, most, ({ document, item }) => `${document} ${item.question}`)
  return yield* empty(
    candidates.length === 0
      ? "The library has no heading or caption to ask for: one of two words or more, with text below it, is needed. Ask your own questions with `evaluateQuestions` (`sluice eval library --questions FILE`)."
      : `All ${candidates.length} headings and captions to ask for occur more than once, as in copies of a folder. Remove the copies, or ask your own questions with \`evaluateQuestions\` (\`sluice eval library --questions FILE\`).`
  )
})

/**
 * Asks a library for its own sections and figures by their names. Needs no judgements and no model.
 *
 * **Details.** A question is a heading, or the first sentence of a caption. Its answer is the text below the heading, or
 * the figure. All documents are indexed again in a temporary folder without the headings and captions of the questions, at
 * most a third of each document's. Headings and captions that occur twice, have one word, or are the document's title are
 * not used.
 *
 * **Gotchas.** A paid model embeds the whole library again. The questions use the author's words: they compare
 * configurations, and do not predict the scores of people's questions.
 */
export const evaluateLibrary: (
  options: Options & { readonly questions?: number }
) => Effect.Effect<LibraryEvaluation, RagError, Embedder | Reranker | Scope.Scope> = Effect.fn(
  "evaluateLibrary"
)(function* (options) {
  const { library, questions: most = QUESTIONS } = options
  if (!(most >= 1)) return yield* empty(`questions is ${most}; expected 1 or more.`)
  const chosen = yield* chooseItems(library, most)
  const { embedder, meter, reranker } = yield* meteredModels
  return yield* Effect.gen(function* () {
    const questions: Array<JudgedQuestion> = []
    const documents = Stream.fromIterable(yield* library.documents).pipe(
      Stream.mapEffect(({ id, path }) =>
        Effect.map(library.document(id), (document) => {
          const items = chosen.filter(({ document }) => document === id).map(({ item }) => item)
          const parsed = holdOut(document.parsed, items)
          for (const { answer, question } of items)
            questions.push(judgedQuestion(question, id, parsed, answer))
          return { path, parsed }
        })
      )
    )
    const collection = yield* parsedCollection(join(yield* temporaryFolder, "held-out"), documents)
    const { retrieve } = yield* makeRetriever(Effect.succeed(collection))
    const headings = chosen.filter(({ item }) => item.from === "heading").length
    const note =
      `The questions are ${headings} headings and ${chosen.length - headings} captions of the documents, which were not indexed. ` +
      "They use the author's words and are easier than people's questions: use them to compare configurations."
    return yield* evaluate(note, retrieve, Stream.fromIterable(questions), meter, options)
  }).pipe(Effect.provideService(Embedder, embedder), Effect.provideService(Reranker, reranker))
})

const empty = (message: string): Effect.Effect<never, RagError> =>
  Effect.fail(new RagError({ stage: "evaluate", reason: "Empty", message }))

/**
 * Asks a library its owner's questions, each with the document that answers it and, if known, the page or the text.
 * Indexes nothing.
 *
 * Fails with `NotFound` for a document that is not in the library, with `Malformed` for a text that is not in the document,
 * and with `Empty` without a question.
 */
export const evaluateQuestions: (
  options: Options & {
    readonly questions: Stream.Stream<LibraryQuestion, RagError>
    /** Of the models that the library was opened with: see `meteredModels`. */
    readonly meter: UsageMeter
  }
) => Effect.Effect<LibraryEvaluation, RagError> = Effect.fn("evaluateQuestions")(function* (options) {
  const { library, meter, questions } = options
  const ids = new Map((yield* library.documents).map(({ id, path }) => [path, id]))
  const judgedQuestions = Stream.mapEffect(questions, (question) =>
    Effect.gen(function* () {
      const id = ids.get(question.document)
      if (id === undefined) {
        const { document } = question
        const message = `The library has no document ${document}, which "${question.question}" names. Ingest it, or fix the path.`
        return yield* new RagError({ stage: "evaluate", reason: "NotFound", message, document })
      }
      const { parsed } = yield* library.document(id)
      return judgedQuestion(question.question, id, parsed, yield* answerSpan(question, parsed))
    })
  )
  return yield* evaluate(
    "Questions of the library's owner.",
    library.retrieve,
    judgedQuestions,
    meter,
    options
  )
})
