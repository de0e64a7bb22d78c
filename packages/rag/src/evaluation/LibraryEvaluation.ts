/** How well a library finds what is in it: by questions made from it, or by questions of its owner. */
import { createHash } from "node:crypto"
import { join } from "node:path"
import { Embedder, Reranker } from "@sluice/core"
import { Effect, type Scope, Stream } from "effect"
import { chunk } from "../chunking/Chunker.ts"
import type { Span, StoredPassage } from "../document/Document.ts"
import { comparisonsOf, type Configuration, DEPTH, type Evaluation, ordered } from "./Evaluation.ts"
import { heldOutIndex } from "./HeldOutIndex.ts"
import { holdOut, type KnownItem, knownItems, questionKey } from "./KnownItems.ts"
import { type UsageMeter, meteredModels } from "./MeteredModels.ts"
import { type LibraryQuestion, placeOf } from "./Questions.ts"
import { type JudgedQuestion, measureWays, type Way } from "./Runs.ts"
import { scratchFolder } from "./ScratchCollection.ts"
import { Fusion } from "../retrieval/stages/Fusion.ts"
import type { LibraryService } from "../library/LibraryService.ts"
import { RagError } from "../document/RagError.ts"
import { makeRetriever, type Retriever } from "../retrieval/Retriever.ts"
import type { RetrieveOptions } from "../retrieval/stages/RetrieveOptions.ts"

/** Questions that are made of a collection at most. */
export const QUESTIONS = 200

/** Of a document's headings and captions so many are held out at most: the others make it what it is. */
const HELD_SHARE = 1 / 3

interface Options {
  readonly library: LibraryService
  readonly configurations?: ReadonlyArray<Configuration>
  readonly onQuestion?: (asked: number) => Effect.Effect<void>
}

/** An evaluation of a library, and what a reader must know of its questions. */
export interface LibraryEvaluation extends Evaluation {
  readonly note: string
}

const SEED = "sluice"

/** `count` of the values, chosen by the hash of their keys: of two overlapping lists the choice overlaps too. */
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

/** A question whose answer is any of some passages: the first of them that is found counts. */
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

/** Keywords alone in the order of BM25: with no time left the reranker is not asked. */
const BM25: RetrieveOptions = { fusion: Fusion.keywords, recall: DEPTH, candidates: DEPTH, deadline: 0 }

/** Keywords alone, what is done when nothing is set, and the configurations. */
const waysOf = (
  retrieve: Retriever["retrieve"],
  configurations: ReadonlyArray<Configuration>
): ReadonlyArray<Way> => [
  {
    name: "bm25",
    search: (question) =>
      Effect.map(retrieve(question, BM25), ({ trace }) => trace.passages.map(({ passage }) => passage.id))
  },
  ...[{ name: "default", options: {} }, ...configurations].map(({ name, options }): Way => ({
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
  ways: ReadonlyArray<Way>,
  questions: Stream.Stream<JudgedQuestion, E>,
  meter: UsageMeter,
  { configurations = [], onQuestion }: Options
) {
  const { each, queries, runs } = yield* measureWays(ways, questions, meter, onQuestion)
  if (queries === 0) return yield* notAsked("There is no question. Write one JSON object a line.")
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
 * Asks a library for its own sections and figures by their names: no labels and no model are needed.
 *
 * **Details.** A question is a heading, or the first sentence of a caption; its answer is the text below the heading, or
 * the figure. What a question was made from is taken out of what is indexed: all documents are indexed once more in a
 * temporary folder, as an ingest does it. At most a third of a document's headings and captions are held out, so that the
 * others still say where a passage stands. Headings and captions that come twice, that have one word, or the document's
 * title, are not asked.
 *
 * **Gotchas.** A model that costs something embeds the whole library once more. Such questions use the author's words:
 * they compare two configurations, they do not say how people's questions fare.
 */
export const evaluateLibrary: (
  options: Options & { readonly questions?: number }
) => Effect.Effect<LibraryEvaluation, RagError, Embedder | Reranker | Scope.Scope> = Effect.fn(
  "evaluateLibrary"
)(function* (options) {
  const { library, questions: most = QUESTIONS } = options
  if (!(most >= 1)) return yield* notAsked(`${most} questions are asked for. Ask for one at least.`)
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
    const index = yield* heldOutIndex(join(yield* scratchFolder, "held-out"))
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
    const ways = waysOf(retrieve, options.configurations ?? [])
    return yield* measured("library", note, ways, Stream.fromIterable(questions), meter, options)
  }).pipe(Effect.provideService(Embedder, embedder), Effect.provideService(Reranker, reranker))
})

const notAsked = (message: string): Effect.Effect<never, RagError> =>
  Effect.fail(new RagError({ stage: "evaluate", reason: "Empty", message }))

/** `twice` are headings and captions that stand more than once each: which of them would be meant? */
const nothingToAsk = (twice: number): Effect.Effect<never, RagError> =>
  notAsked(
    twice === 0
      ? "The library has no heading or caption to ask for: at least one of two words or more with some text below it is needed. Questions of your own are for `evaluateQuestions` (`sluice eval library --questions FILE`)."
      : `The ${twice} headings and captions that were to be asked for stand in the library more than once each, as in copies of a folder. Leave copies out; questions of your own are for \`evaluateQuestions\` (\`sluice eval library --questions FILE\`).`
  )

/**
 * Asks a library the questions of its owner, each with the document that answers it, and the page or the text where
 * they are known. Nothing is indexed anew.
 *
 * Fails with `NotFound` for a document that is not in the library, with `Malformed` for a text that is not in it, with
 * `Empty` without a question.
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
  const judgedQuestions = questions.pipe(
    Stream.mapEffect((question) =>
      Effect.gen(function* () {
        const id = ids.get(question.document)
        if (id === undefined) {
          return yield* new RagError({
            stage: "evaluate",
            reason: "NotFound",
            message: `There is no document ${question.document} in the library, which "${question.question}" names. Ingest it, or mend the path.`,
            document: question.document
          })
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
  const ways = waysOf(library.retrieve, options.configurations ?? [])
  const note = "Questions of the library's owner."
  return yield* measured("library", note, ways, judgedQuestions, meter, options)
})
