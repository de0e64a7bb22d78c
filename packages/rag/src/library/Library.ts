/** Documents in, cited answers out: the one service that most programs need. */
import { Embedder, QuestionRewriter, Reader, Reranker, Verifier, Vision } from "@sluice/core"
import { Clock, Context, Effect, Layer, Option, type Scope, Semaphore, Stream } from "effect"
import { makeAnswerer } from "../answering/Answerer.ts"
import { makeStandalone } from "../answering/Standalone.ts"
import { Chunker } from "../chunking/CustomChunker.ts"
import type { RagError } from "../document/RagError.ts"
import { passageEmbedder, presentManifest } from "../embedding/PassageEmbedder.ts"
import { DocumentFormats, storedFormats } from "../formats/DocumentFormats.ts"
import { ScannedPages } from "../formats/parsing/Readings.ts"
import { FigureDescriptions } from "../ingest/DescribeFigures.ts"
import type { IngestEvent } from "../ingest/IngestEvents.ts"
import type { PlanOptions } from "../ingest/IngestPlan.ts"
import { rebuildFrom } from "../ingest/Rebuild.ts"
import { planRebuild, type RebuildPlan } from "../ingest/RebuildPlan.ts"

import { makeCompare } from "../retrieval/Compare.ts"
import { checkOptions, stageOptions } from "../retrieval/RetrievePlan.ts"
import { makeRetriever } from "../retrieval/Retriever.ts"
import { RetrievalStages } from "../retrieval/stages/index.ts"
import { makeWhy } from "../retrieval/Why.ts"
import { LanceIndex, type StoreOptions } from "../store/lance/LanceIndex.ts"
import { librarySnapshots, snapshotName } from "../store/LibrarySnapshots.ts"
import { PassageIndex } from "../store/PassageIndex.ts"
import { answerMethods } from "./LibraryAnswers.ts"
import { documentMethods } from "./LibraryDocuments.ts"
import { listMethods } from "./LibraryList.ts"
import { ingestMethods, type WithContext, WRITERS } from "./LibraryIngest.ts"
import { LIBRARY_OPTIONS } from "./LibraryOptions.ts"
import type { LibraryOptions, LibraryService } from "./LibraryService.ts"
import { summaryMethods } from "./LibrarySummary.ts"
import { syncMethods } from "./LibrarySync.ts"
import { missingReader, missingReranker } from "./MissingModels.ts"

/** The models that questions need. A library opens with an `Embedder` alone. */
export type Models = Embedder | Reranker | Reader

/**
 * The service, for programs with one library in their context, and the functions that open libraries.
 *
 * ```ts
 * const library = yield* Library.open("./library")
 * yield* library.ingest("./docs")
 * const { answer, citations } = yield* library.ask("How long do refunds take?")
 * ```
 */
export class Library extends Context.Service<Library, LibraryService>()("@sluice/rag/Library") {
  /**
   * Opens the library in a folder, which is created if it does not exist, and closes it with the scope. A URL is an object
   * store (`s3://`, `gs://`, `az://`) or LanceDB Enterprise (`db://`).
   *
   * A `Reranker` and a `Reader` are needed only by what uses them: retrieval and answers.
   *
   * Fails with `ManifestMismatch` if it was made with another format, embedding model or dimension (see
   * `Library.rebuild`), and with `NewerVersion` if a newer version wrote it.
   */
  static readonly open: (
    folder: string,
    options?: LibraryOptions & StoreOptions
  ) => Effect.Effect<LibraryService, RagError, Embedder | Scope.Scope> = Effect.fn("Library.open")(
    function* (folder, options) {
      const store = yield* Layer.build(LanceIndex.layer(folder, options))
      return yield* makeLibrary(options).pipe(Effect.provideContext(store))
    }
  )

  static readonly layer = (
    folder: string,
    options?: LibraryOptions & StoreOptions
  ): Layer.Layer<Library, RagError, Embedder> => Layer.effect(Library, Library.open(folder, options))

  /** A library over a store that the program provides. */
  static readonly make: (
    options?: LibraryOptions
  ) => Effect.Effect<LibraryService, RagError, Embedder | PassageIndex> = (options) => makeLibrary(options)

  /**
   * Rebuilds a library from its stored originals with the present models, if `open` fails with `ManifestMismatch`. The
   * library is unchanged until the last event, and if a document fails.
   */
  static readonly rebuild = (
    folder: string,
    options?: LibraryOptions & StoreOptions
  ): Stream.Stream<IngestEvent, RagError, Embedder> =>
    rebuildStream(options?.collection ?? DEFAULT_COLLECTION).pipe(
      Stream.provide(LanceIndex.layer(folder, options)),
      Stream.updateContext((context: Context.Context<Embedder>) => withOptions(options, context))
    )

  /**
   * What `rebuild` would embed, cost and take. Reads the stored passages and writes nothing. Calls no model, except with
   * `timeModel`.
   */
  static readonly planRebuild = (
    folder: string,
    options: PlanOptions & StoreOptions & { readonly collection?: string } = {}
  ): Effect.Effect<RebuildPlan, RagError, Embedder> =>
    Effect.gen(function* () {
      const index = yield* PassageIndex
      const current = yield* index.existing(options.collection ?? DEFAULT_COLLECTION)
      return yield* planRebuild(current, yield* passageEmbedder(yield* presentManifest), options)
    }).pipe(Effect.provide(LanceIndex.layer(folder, options)))

  /** The collections that a rebuild would change: of another format, embedding model or chunker, or damaged. */
  static readonly outdated = (
    folder: string,
    options?: StoreOptions
  ): Effect.Effect<ReadonlyArray<string>, RagError, Embedder> =>
    Effect.gen(function* () {
      const index = yield* PassageIndex
      const manifest = yield* presentManifest
      return yield* Effect.filter(yield* index.collections, (name) =>
        Effect.match(index.open(name, manifest), {
          onFailure: () => true,
          onSuccess: (opened) => opened.manifest.chunker !== manifest.chunker
        })
      )
    }).pipe(Effect.provide(LanceIndex.layer(folder, options)))

  /**
   * Restores a snapshot that was made with the present embedding model, if the library has another one now. Fails with
   * `NotFound`, and with `ManifestMismatch` if the snapshot has yet another model.
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

/** A library opens its collection again after this time, because the name may refer to another table. */
const REOPEN_MILLIS = 1_000

const withOptions = <R>(
  { describeFigures = false, scannedPages }: LibraryOptions = {},
  context: Context.Context<R>
): Context.Context<R> => {
  const described = Context.add(context, FigureDescriptions, describeFigures)
  return scannedPages === undefined ? described : Context.add(described, ScannedPages, scannedPages)
}

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
) => Effect.Effect<LibraryService, RagError, Embedder | PassageIndex> = Effect.fn("Library.make")(function* (
  options: LibraryOptions = {}
) {
  yield* checkOptions("open", { ...LIBRARY_OPTIONS, ...stageOptions(yield* RetrievalStages) }, options)
  const name = options.collection ?? DEFAULT_COLLECTION
  const index = yield* PassageIndex
  // Nothing else of the context is kept: a request that opens a library must not be the caller of later ones.
  const given = yield* Effect.context<Embedder | PassageIndex>()
  const context = Context.mergeAll(
    Context.make(Reranker, missingReranker),
    Context.make(Reader, missingReader),
    Context.pick(
      Embedder,
      QuestionRewriter,
      Reranker,
      Reader,
      Verifier,
      Vision,
      PassageIndex,
      Chunker,
      DocumentFormats,
      RetrievalStages
    )(given as Context.Context<Models | PassageIndex>)
  )
  const vision = yield* Effect.serviceOption(Vision)
  const formats = yield* DocumentFormats
  const chunker = yield* Chunker
  const manifest = yield* presentManifest
  const embedder = yield* passageEmbedder(manifest)
  // Two concurrent ingests of a folder would read the same files twice.
  const folders = yield* Semaphore.make(1)
  const writes = yield* Semaphore.make(WRITERS)

  const opened = yield* index.open(name, manifest)
  const state = { collection: opened, openedAt: yield* Clock.currentTimeMillis }
  const collection = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (now - state.openedAt >= REOPEN_MILLIS) {
      state.collection = yield* index.open(name, manifest)
      state.openedAt = now
    }
    return state.collection
  })
  /** After a switch to another table. What is written to the old table is lost, so that writers reopen at once. */
  const expire = Effect.sync(() => void (state.openedAt = Number.NEGATIVE_INFINITY))

  // The caller's context may lack these services, or have others. The library uses those that it was opened with.
  const withVision =
    (service: Option.Option<typeof Vision.Service>): WithContext =>
    (context) =>
      Option.match(service, {
        onNone: () => Context.omit(Vision)(context),
        onSome: (service) => Context.add(context, Vision, service)
      }).pipe(Context.add(DocumentFormats, formats), Context.add(Chunker, chunker), (context) =>
        withOptions(options, context)
      )

  const library = {
    collection,
    latestCollection: Effect.andThen(expire, collection),
    manifest,
    embedder,
    formats: yield* storedFormats,
    folders,
    writes,
    withServices: withVision(vision),
    withFreeServices: withVision(Option.filter(vision, ({ model }) => model.kind === "extractive"))
  }
  const documents = documentMethods(library)
  const retriever = yield* Effect.provideContext(makeRetriever(collection, options), context)
  const snapshots = librarySnapshots(index, name, manifest, (at) =>
    makeLibrary(options).pipe(Effect.provideContext(Context.add(context, PassageIndex, at)))
  )

  return {
    ...ingestMethods(
      library,
      rebuildStream(name).pipe(
        Stream.provideContext(context),
        Stream.tap((event) => (event.type === "done" ? expire : Effect.void))
      )
    ),
    retrieve: retriever.retrieve,
    why: makeWhy(collection, retriever),
    compare: makeCompare(retriever),
    ...answerMethods(
      retriever,
      yield* makeStandalone,
      yield* Effect.provideContext(makeAnswerer(collection, documents.document), context),
      options
    ),
    ...(yield* Effect.provideContext(summaryMethods(library), context)),
    ...documents,
    ...listMethods(library),
    ...syncMethods(library),
    ...snapshots,
    restore: (snapshot) => Effect.tap(snapshots.restore(snapshot), () => expire)
  } satisfies LibraryService
})
