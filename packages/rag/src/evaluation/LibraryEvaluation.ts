/** Evaluates a library with questions made from its documents, or with questions of its owner. */
import { createHash } from "node:crypto"
import { join } from "node:path"
import { Embedder, Reranker } from "@sluice/core"
import { Effect, type Scope, Stream } from "effect"
import { chunk } from "../chunking/Chunker.ts"
import type { Span, StoredPassage } from "../document/Document.ts"
import { comparisonsOf, type Configuration, DEPTH, type Evaluation, ordered } from "./Evaluation.ts"
import { heldOutIndex } from "./HeldOutIndex.ts"
import { failEvaluation } from "./JsonLines.ts"
import { holdOut, type KnownItem, knownItems, questionKey } from "./KnownItems.ts"
import { type UsageMeter, meteredModels } from "./MeteredModels.ts"
import { type LibraryQuestion, placeOf } from "./Questions.ts"
import { type JudgedQuestion, measureMethods, type RetrievalMethod } from "./Runs.ts"
import { temporaryFolder } from "./TemporaryCollection.ts"
import { Fusion } from "../retrieval/stages/Fusion.ts"
import type { LibraryService } from "../library/LibraryService.ts"
import type { RagError } from "../document/RagError.ts"
import { makeRetriever, type Retriever } from "../retrieval/Retriever.ts"
import type { RetrieveOptions } from "../retrieval/stages/RetrieveOptions.ts"

/** The maximum number of questions made from a library. */
export const QUESTIONS = 200

/** The share of a document's headings and captions held out at most. The others keep its structure. */
const HELD_SHARE = 1 / 3

interface Options {
  readonly library: LibraryService
  readonly configurations?: ReadonlyArray<Configuration>
  readonly onQuestion?: (asked: number) => Effect.Effect<void>
}

/** An evaluation of a library. `note` says how its questions were made. */
export interface LibraryEvaluation extends Evaluation {
  readonly note: string
}

const SEED = "sluice"

/** `count` of the values, chosen by the hash of their keys, so that samples of overlapping lists overlap. */
const sampleBy = <A>(
  values: ReadonlyArray<A>,
  count: number,
  key: (value: A) => string
): ReadonlyArray<A> => {
  if (values.length <= count) return values
  const hash = (value: A) => createHash("sha256").update(SEED).update(key(value)).digest("hex")
  return values
    .map((value) => ({ value, hash: hash(value) }))
    .toSorted((a, b) => (a.hash < b.hash ? -1 : 1))
    .slice(0, count)
    .map(({ value }) => value)
}

const ANSWER = "answer"
const JUDGED = new Map([[ANSWER, 1]])

/** A question that any of some passages answers: the best ranked counts. */
const judged = (question: string, passages: ReadonlySet<string>): JudgedQuestion => ({
  text: question,
  judgements: JUDGED,
  judgedAs: (id) => (passages.has(id) ? ANSWER : id)
})

const overlapping = (
  passages: ReadonlyArray<Pick<StoredPassage, "id" | "start" | "end">>,
  { end, start }: Span
): ReadonlySet<string> =>
  new Set(passages.filter((passage) => passage.start < end && passage.end > start).map(({ id }) => id))

/** Keywords alone, in the order of BM25. A deadline of 0 skips the reranker. */
const BM25: RetrieveOptions = { fusion: Fusion.keywords, recall: DEPTH, candidates: DEPTH, deadline: 0 }

/** Keywords alone, the default options, and the configurations. */
const methodsOf = (
  retrieve: Retriever["retrieve"],
  configurations: ReadonlyArray<Configuration>
): ReadonlyArray<RetrievalMethod> => [
  {
    name: "bm25",
    search: (question) =>
      Effect.map(retrieve(question, BM25), ({ trace }) => trace.passages.map(({ passage }) => passage.id))
  },
  ...[{ name: "default", options: {} }, ...configurations].map(({ name, options }): RetrievalMethod => ({
    name,
    search: (question) => Effect.map(retrieve(question, options), (found) => ordered(found, ({ id }) => id)),
    rest: (question) =>
      Effect.map(retrieve(question, { ...options, recall: DEPTH }), ({ trace }) =>
        trace.passages.map(({ passage }) => passage.id)
      )
  }))
]

const measured = Effect.fn("LibraryEvaluation.measure")(function* <E>(
  name: string,
  note: string,
  methods: ReadonlyArray<RetrievalMethod>,
  questions: Stream.Stream<JudgedQuestion, E>,
  meter: UsageMeter,
  { configurations = [], onQuestion }: Options
) {
  const { each, queries, runs } = yield* measureMethods(methods, questions, meter, onQuestion)
  if (queries === 0)
    return yield* failEvaluation("Empty", "There is no question. Write one JSON object per line.")
  const evaluation: LibraryEvaluation = {
    collection: name,
    queries,
    runs,
    comparisons: comparisonsOf(each, configurations),
    each,
    note
  }
  return evaluation
})

/**
 * Evaluates a library without labels: questions are its own headings and captions.
 *
 * **Details.** A question is a heading, or the first sentence of a caption. The answer is the text below the heading, or the
 * figure. All documents are indexed again in a temporary folder, without what the questions were made from: at most a third
 * of a document's headings and captions. Headings and captions that occur twice, have one word, or equal the title, are not
 * used.
 *
 * **Gotchas.** A paid model embeds the whole library again. The questions use the author's words: use them to compare
 * configurations, not to predict results for people's questions.
 */
export const evaluateLibrary: (
  options: Options & { readonly questions?: number }
) => Effect.Effect<LibraryEvaluation, RagError, Embedder | Reranker | Scope.Scope> = Effect.fn(
  "evaluateLibrary"
)(function* (options) {
  const { library, questions: most = QUESTIONS } = options
  if (!(most >= 1))
    return yield* failEvaluation("Empty", `The number of questions is ${most}. Give at least 1.`)
  const documents = yield* library.documents
  const candidates: Array<{ readonly document: string; readonly item: KnownItem }> = []
  for (const { id } of documents) {
    const items = knownItems((yield* library.document(id)).parsed)
    const own = sampleBy(items, Math.ceil(items.length * HELD_SHARE), ({ question }) => question)
    for (const item of own) candidates.push({ document: id, item })
  }
  const counts = new Map<string, number>()
  for (const { item } of candidates) {
    const key = questionKey(item.question)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const single = candidates.filter(({ item }) => counts.get(questionKey(item.question)) === 1)
  const chosen = sampleBy(single, most, ({ document, item }) => `${document} ${item.question}`)
  if (chosen.length === 0) return yield* nothingToAsk(candidates.length)
  const { embedder, meter, reranker } = yield* meteredModels
  return yield* Effect.gen(function* () {
    const index = yield* heldOutIndex(join(yield* temporaryFolder, "held-out"))
    const questions: Array<JudgedQuestion> = []
    for (const { id, path } of documents) {
      const items = chosen.filter(({ document }) => document === id).map(({ item }) => item)
      const { parsed } = yield* library.document(id)
      const passages = yield* index.write(path, holdOut(parsed, items))
      for (const { answer, question } of items)
        questions.push(judged(question, overlapping(passages, answer)))
    }
    yield* index.settle
    const { retrieve } = yield* makeRetriever(Effect.succeed(index.collection))
    const headings = chosen.filter(({ item }) => item.from === "heading").length
    const note =
      `Questions are ${headings} headings and ${chosen.length - headings} captions of the documents themselves; what each was made from was not indexed. ` +
      "They use the author's words and are easier than people's questions: use them to compare configurations."
    const methods = methodsOf(retrieve, options.configurations ?? [])
    return yield* measured("library", note, methods, Stream.fromIterable(questions), meter, options)
  }).pipe(Effect.provideService(Embedder, embedder), Effect.provideService(Reranker, reranker))
})

/** `repeated`: headings and captions that occur more than once, so that their answer is ambiguous. */
const nothingToAsk = (repeated: number) =>
  failEvaluation(
    "Empty",
    `${
      repeated === 0
        ? "The library has no heading or caption of at least two words with text below it."
        : `All ${repeated} headings and captions that could be questions occur more than once, as in copies of a folder. Leave the copies out.`
    } Or write your own questions: \`evaluateQuestions\` (\`sluice eval library --questions FILE\`).`
  )

/**
 * Evaluates a library with questions of its owner. Each names the document that answers it, and the page or text if known.
 * Nothing is indexed again.
 *
 * Fails with `NotFound` for a document that is not in the library, with `Malformed` for a text that is not in it, and with
 * `Empty` without a question.
 */
export const evaluateQuestions: (
  options: Options & {
    readonly questions: Stream.Stream<LibraryQuestion, RagError>
    /** The meter of the models that the library was opened with: see `meteredModels`. */
    readonly meter: UsageMeter
  }
) => Effect.Effect<LibraryEvaluation, RagError> = Effect.fn("evaluateQuestions")(function* (options) {
  const { library, meter, questions } = options
  const ids = new Map((yield* library.documents).map(({ id, path }) => [path, id]))
  const judgedQuestions = questions.pipe(
    Stream.mapEffect((question) =>
      Effect.gen(function* () {
        const id = ids.get(question.document)
        if (id === undefined) {
          const message = `The library has no document ${question.document}, which "${question.question}" names. Ingest it, or correct the path.`
          return yield* failEvaluation("NotFound", message, { document: question.document })
        }
        const { parsed } = yield* library.document(id)
        const span = yield* placeOf(question, parsed)
        const passages = chunk(parsed).map(({ end, ordinal, start }) => ({
          id: `${id}#${ordinal}`,
          start,
          end
        }))
        return judged(question.question, overlapping(passages, span))
      })
    )
  )
  const methods = methodsOf(library.retrieve, options.configurations ?? [])
  const note = "Questions of the library's owner."
  return yield* measured("library", note, methods, judgedQuestions, meter, options)
})
