/** Documents in, cited answers out: the one service that most programs need. */
import { type Embedder, type Reader, type Reranker, Vision } from "@sluice/core"
import { Clock, Context, Effect, Layer, Option, Queue, type Scope, Semaphore, Stream } from "effect"
import type { AnswerEvent } from "../answering/Answer.ts"
import { makeAnswerer } from "../answering/Answerer.ts"
import { applyPlan } from "../ingest/Apply.ts"
import { FigureDescriptions } from "../ingest/DescribeFigures.ts"
import type { StoredPassage } from "../document/Document.ts"
import { makeCompare } from "../retrieval/Compare.ts"
import { makeWhy } from "../retrieval/Why.ts"
import { givenText } from "../document/Given.ts"
import type { IngestEvent, IngestReport } from "../ingest/IngestReport.ts"
import { asFolder, ingestSource, rebuildFrom, storedOriginal } from "../ingest/IngestSession.ts"
import { LanceIndex, type StoreOptions } from "../store/lance/LanceIndex.ts"
import { librarySnapshots, snapshotName } from "../store/LibrarySnapshots.ts"
import { DocumentFormats } from "../formats/DocumentFormats.ts"
import { parse } from "../formats/Parser.ts"
import type { DocumentFormat } from "../formats/parsing/DocumentFormat.ts"
import { sha256 } from "../embedding/PassageEmbedder.ts"
import { decodeReading } from "../ingest/StoredReading.ts"
import { type Collection, PassageIndex } from "../store/PassageIndex.ts"
import { planIngest } from "../ingest/Plan.ts"
import { passageEmbedder, presentManifest } from "../embedding/PresentModels.ts"
import { RagError } from "../document/RagError.ts"
import { makeRetriever } from "../retrieval/Retriever.ts"
import type { FigurePassage, LibraryOptions, LibraryService, LibraryStats } from "./LibraryService.ts"

/** What a library asks of the program: models. Which ones, the program says in one layer. */
export type Models = Embedder | Reranker | Reader

/**
 * The service, for programs that hold one library in their context, and the ways to open one.
 *
 * ```ts
 * const library = yield* Library.open("./library")
 * yield* library.ingest("./docs")
 * const { answer, citations } = yield* library.ask("How long do refunds take?")
 * ```
 */
export class Library extends Context.Service<Library, LibraryService>()("@sluice/rag/Library") {
  /**
   * Opens the library in a folder, which is made where there is none, and closes it with the scope. An URL is an object
   * store (`s3://`, `gs://`, `az://`) or LanceDB Enterprise (`db://`).
   *
   * Fails with `ManifestMismatch` when it was made with another embedding model, dimension or chunker (see
   * `Library.rebuild`), and with `NewerVersion` when a newer Sluice wrote it.
   */
  static readonly open: (
    folder: string,
    options?: LibraryOptions & StoreOptions
  ) => Effect.Effect<LibraryService, RagError, Models | Scope.Scope> = Effect.fn("Library.open")(function* (
    folder: string,
    options?: LibraryOptions & StoreOptions
  ) {
    const store = yield* Layer.build(LanceIndex.layer(folder, options))
    return yield* makeLibrary(options).pipe(Effect.provideContext(store))
  })

  /** The same as a layer. */
  static readonly layer = (
    folder: string,
    options?: LibraryOptions & StoreOptions
  ): Layer.Layer<Library, RagError, Models> => Layer.effect(Library, Library.open(folder, options))

  /** A library over a store of the program's own. */
  static readonly make: (
    options?: LibraryOptions
  ) => Effect.Effect<LibraryService, RagError, Models | PassageIndex> = (options) => makeLibrary(options)

  /**
   * Makes a library anew from its stored originals with the present models; for folders that `open` refuses with
   * `ManifestMismatch`. Until the last event the library stays as it was; when a document fails, it stays so.
   */
  static readonly rebuild = (
    folder: string,
    options?: LibraryOptions & StoreOptions
  ): Stream.Stream<IngestEvent, RagError, Embedder> =>
    rebuildStream(options?.collection ?? DEFAULT_COLLECTION).pipe(
      Stream.provide(LanceIndex.layer(folder, options)),
      Stream.provideService(FigureDescriptions, options?.describeFigures ?? false)
    )

  /**
   * Makes a library what it was, for a snapshot of another embedding model than the library has now: the model is the
   * snapshot's. Fails with `NotFound`, and with `ManifestMismatch` for a snapshot of a third model.
   */
  static readonly restore = (
    folder: string,
    snapshot: string,
    options?: LibraryOptions & StoreOptions
  ): Effect.Effect<void, RagError, Embedder> =>
    Effect.gen(function* () {
      const index = yield* PassageIndex
      const name = options?.collection ?? DEFAULT_COLLECTION
      yield* index.restore(name, yield* snapshotName(snapshot), yield* presentManifest)
    }).pipe(Effect.provide(LanceIndex.layer(folder, options)))
}

const DEFAULT_COLLECTION = "default"

/** A handle asks again which table its collection's name stands for when it has not asked for so long. */
const RECHECK_MILLIS = 1_000

const rebuildStream = (collection: string): Stream.Stream<IngestEvent, RagError, Embedder | PassageIndex> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const manifest = yield* presentManifest
      const index = yield* PassageIndex
      const embedder = yield* passageEmbedder(manifest)
      return rebuildFrom(yield* index.replace(collection, manifest), embedder)
    })
  )

const makeLibrary: (
  options?: LibraryOptions
) => Effect.Effect<LibraryService, RagError, Models | PassageIndex> = Effect.fn("Library.make")(function* (
  options: LibraryOptions = {}
) {
  const name = options.collection ?? DEFAULT_COLLECTION
  const index = yield* PassageIndex
  const context = yield* Effect.context<Models | PassageIndex>()
  // Whoever calls may have no image understanding in its context: what counts is what the library was opened with.
  const vision = yield* Effect.serviceOption(Vision)
  const formats = yield* DocumentFormats
  const sight = (context: Context.Context<never>) =>
    Context.add(sightOf(vision, formats)(context), FigureDescriptions, options.describeFigures ?? false)
  const manifest = yield* presentManifest
  const embedder = yield* passageEmbedder(manifest)
  // One ingest or rebuild at a time: two would look at the same files and do the same work.
  const writing = yield* Semaphore.make(1)

  const opened = yield* index.open(name, manifest)
  const state = { collection: opened, checked: yield* Clock.currentTimeMillis }
  const collection: Effect.Effect<Collection, RagError> = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (now - state.checked >= RECHECK_MILLIS) {
      state.collection = yield* index.open(name, manifest)
      state.checked = now
    }
    return state.collection
  })

  // The name stands for another table now. Who writes asks anew: what stands in a table that the name left is lost.
  const switched = Effect.sync(() => void (state.checked = Number.NEGATIVE_INFINITY))
  const present = Effect.andThen(switched, collection)

  const alone = <A>(
    stream: Effect.Effect<Stream.Stream<A, RagError>, RagError>
  ): Stream.Stream<A, RagError> =>
    Stream.unwrap(
      Effect.andThen(
        // Whoever waits for a turn may be ended like whoever has it.
        Effect.acquireRelease(writing.take(1), () => writing.release(1), { interruptible: true }),
        stream
      )
    )

  const retriever = yield* makeRetriever(collection, options)
  const answerer = yield* makeAnswerer(collection)

  const ingestEvents: LibraryService["ingestEvents"] = (source) =>
    alone(Effect.map(present, (into) => ingestSource(source, into, embedder))).pipe(
      Stream.updateContext(sight)
    )

  // Planning must cost nothing, and applying no more than was planned.
  const free = Option.filter(vision, ({ model }) => model.kind === "extractive")
  const applyEvents: LibraryService["applyEvents"] = (plan) =>
    alone(Effect.map(present, (into) => applyPlan(plan, into, manifest, embedder))).pipe(
      Stream.updateContext(sightOf(free, formats))
    )

  const rebuild: LibraryService["rebuild"] = alone(
    Effect.succeed(rebuildStream(name).pipe(Stream.provideContext(context)))
  ).pipe(
    Stream.updateContext(sight),
    Stream.tap((event) => (event.type === "done" ? switched : Effect.void))
  )

  const snapshots = librarySnapshots(index, name, manifest, (at) =>
    makeLibrary(options).pipe(Effect.provideContext(Context.add(context, PassageIndex, at)))
  )

  const ask: LibraryService["ask"] = Effect.fn("Library.ask")(function* (question, options) {
    const retrieval = yield* retriever.retrieve(question, options)
    const last = yield* Stream.runLast(answerer.answer(question, retrieval))
    return yield* wholeOf(Option.filter(last, (event) => event.type === "answer")).pipe(
      Effect.map(({ answer }) => answer)
    )
  })

  const askEvents: LibraryService["askEvents"] = (question, options) =>
    Stream.callback<AnswerEvent, RagError>((queue) =>
      Effect.gen(function* () {
        const retrieval = yield* retriever.retrieve(question, options, (stage) =>
          Effect.asVoid(Queue.offer(queue, { type: "stage", stage }))
        )
        yield* Queue.offer(queue, { type: "recalled", passages: retrieval.trace.passages })
        yield* Stream.runForEach(answerer.answer(question, retrieval), (event) => Queue.offer(queue, event))
        yield* Queue.end(queue)
      })
    )

  const find = Effect.fn("Library.find")(function* (id: string) {
    const from = yield* collection
    const stored = yield* from.document(yield* givenText("store", "The document's identifier", id))
    if (stored === undefined) {
      return yield* new RagError({
        stage: "store",
        reason: "NotFound",
        message: `There is no document ${id} in collection "${name}". It may have been removed; list the documents anew.`,
        document: id
      })
    }
    return stored
  })

  const file: LibraryService["file"] = Effect.fn("Library.file")(function* (id) {
    const { info } = yield* find(id)
    return { info, bytes: yield* storedOriginal(yield* collection, info) }
  })

  return {
    ingestEvents,
    ingest: Effect.fn("Library.ingest")((source) => reportOf(ingestEvents(source))),
    plan: Effect.fn("Library.plan")(function* (source, options) {
      return yield* planIngest(asFolder(source), yield* present, manifest, embedder, options ?? {}).pipe(
        Effect.updateContext(sightOf(free, formats))
      )
    }),
    apply: Effect.fn("Library.apply")((plan) => reportOf(applyEvents(plan))),
    applyEvents,
    retrieve: retriever.retrieve,
    why: makeWhy(collection, retriever),
    compare: makeCompare(retriever),
    ask,
    askEvents,
    documents: Effect.gen(function* () {
      const documents = yield* (yield* collection).documents
      return documents.toSorted((a, b) => (a.path < b.path ? -1 : 1))
    }).pipe(Effect.withSpan("Library.documents")),
    document: Effect.fn("Library.document")(function* (id) {
      const { info, reading } = yield* find(id)
      const from = yield* collection
      const stored = reading === undefined ? undefined : yield* from.original(reading)
      if (stored !== undefined) return { info, parsed: yield* decodeReading(stored, info.path) }
      const bytes = yield* storedOriginal(from, info)
      return { info, parsed: yield* Effect.updateContext(parse({ path: info.path, bytes }), sight) }
    }),
    file,
    figures: Effect.fn("Library.figures")(function* (id) {
      yield* find(id)
      return (yield* (yield* collection).passages(id)).filter(isFigure)
    }),
    attachment: Effect.fn("Library.attachment")(function* (id, crop) {
      const { attachments = [], info, reading } = yield* find(id)
      const isKept = crop !== reading && attachments.includes(crop)
      const bytes = isKept ? yield* (yield* collection).original(crop) : undefined
      // Descriptions lie below a key that is no hash of theirs.
      if (bytes !== undefined && sha256(bytes) === crop) return bytes
      return yield* new RagError({
        stage: "store",
        reason: "NotFound",
        message: `${info.path} has no crop ${crop}. The document may have been replaced; ask for its figures anew.`,
        document: id
      })
    }),
    remove: Effect.fn("Library.remove")(function* (id) {
      const { info } = yield* find(id)
      yield* (yield* present).remove([id])
      return info
    }, writing.withPermit),
    stats: Effect.gen(function* () {
      const from = yield* collection
      const [documents, passages, index] = yield* Effect.all(
        [from.documents, from.passageCount, from.stats],
        { concurrency: 3 }
      )
      return {
        collection: name,
        documents: documents.length,
        passages,
        embeddingModel: manifest.embeddingModel,
        dimension: manifest.dimension,
        chunker: manifest.chunker,
        index
      } satisfies LibraryStats
    }).pipe(Effect.withSpan("Library.stats")),
    rebuild,
    ...snapshots,
    restore: (snapshot) => Effect.tap(snapshots.restore(snapshot), () => switched),
    maintain: Effect.flatMap(collection, (from) => from.maintain).pipe(
      writing.withPermit,
      Effect.withSpan("Library.maintain")
    )
  } satisfies LibraryService
})

/** The context with images understood by this, or not at all, whatever the caller has. */
const sightOf =
  (vision: Option.Option<typeof Vision.Service>, formats: ReadonlyArray<DocumentFormat>) =>
  (context: Context.Context<never>): Context.Context<never> =>
    Option.match(vision, {
      onNone: () => Context.omit(Vision)(context),
      onSome: (service) => Context.add(context, Vision, service)
    }).pipe(Context.add(DocumentFormats, formats))

const isFigure = (passage: StoredPassage): passage is FigurePassage => passage.figure !== undefined

const reportOf = (events: Stream.Stream<IngestEvent, RagError>): Effect.Effect<IngestReport, RagError> =>
  Effect.gen(function* () {
    const last = yield* Stream.runLast(events)
    return (yield* wholeOf(Option.filter(last, (event) => event.type === "done"))).report
  })

const wholeOf = <A>(last: Option.Option<A>): Effect.Effect<A> =>
  Option.match(last, {
    onSome: Effect.succeed,
    onNone: () => Effect.die("a stream of events ended without its last event: please report")
  })
