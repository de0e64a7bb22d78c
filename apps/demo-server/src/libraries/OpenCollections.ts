/** The collections of one data folder, over one store. Each is opened at its first use. */
import { Embedder, QuestionRewriter, Reader, Reranker, Verifier, Vision } from "@sluice/core"
import { Library, type LibraryOptions, type LibraryService, type Models, RagError } from "@sluice/rag"
import { LanceIndex, PassageIndex, type StoreOptions, storedBytesOf } from "@sluice/rag/store"
import { Cache, Context, Effect, Exit, Layer, Record, Scope, Semaphore, Stream } from "effect"
import { type CallerInfo, CurrentCaller } from "../accounts/Caller.ts"
import { DEFAULT_COLLECTION } from "../contract/Names.ts"
import { collectionNotFound } from "../sharing/CollectionAccess.ts"
import { CommitLock } from "./CommitLock.ts"
import { type LazyStatus, makeLazy } from "./LazyResource.ts"

/** Collections of one user at most. Each one that is used stays open. */
const MAX_COLLECTIONS = 100

/** Parsed PDFs that are cached at most. Each page request needs the whole parsed document. */
const CACHED_PDFS = 4

export interface OpenCollection {
  readonly library: Effect.Effect<LibraryService, RagError>
  readonly status: Effect.Effect<LazyStatus<LibraryService>>
  /** Parses a document's original again. The last PDFs are cached. */
  readonly read: LibraryService["document"]
  /** `done` when the collection is removed while it is open; `creates` until it is opened if that may create it. */
  readonly removal: { done: boolean; creates: boolean }
}

const tooMany = new RagError({
  stage: "open",
  reason: "TooLarge",
  message: `You have ${MAX_COLLECTIONS} collections, the maximum. Use one of them, or remove one`
})

type Collection = Effect.Success<ReturnType<PassageIndex["Service"]["open"]>>

/** Every effect of a collection fails with `RagError` alone. */
const isOperation = (member: unknown): member is Effect.Effect<unknown, RagError> => Effect.isEffect(member)

/**
 * Operations on a collection that is being removed, or that another server has removed, fail with `NotFound`, not with a
 * missing file.
 */
const failIfRemoved = (
  collection: Collection,
  removal: OpenCollection["removal"],
  names: PassageIndex["Service"]["collections"]
): Collection => {
  const { name } = collection
  const isRemoved = Effect.match(names, {
    onFailure: () => removal.done,
    onSuccess: (present) => removal.done || !present.includes(name)
  })
  const checked = <A>(use: Effect.Effect<A, RagError>) =>
    Effect.catchTag(use, "RagError", (error) =>
      Effect.flatMap(isRemoved, (removed) => Effect.fail(removed ? collectionNotFound(name) : error))
    )
  return Record.map(collection, (member: unknown) =>
    isOperation(member)
      ? checked(member)
      : typeof member === "function"
        ? (...given: ReadonlyArray<unknown>) => checked(member(...given))
        : member
  ) as Collection
}

/** Writes take turns with those of other servers, and count. */
const takingTurns = (
  collection: Collection,
  exclusive: typeof CommitLock.Service,
  countStored: CollectionHooks["countStored"],
  place: string
): Collection => {
  const { adopt, commit, maintain, remove, settle } = collection
  const writing = JSON.stringify([place, collection.name])
  const indexing = `${writing} index`
  return {
    ...collection,
    commit: (documents) =>
      Effect.tap(
        exclusive(writing, commit(documents)),
        countStored(storedBytesOf(documents.map(({ info }) => info)))
      ),
    adopt: (documents) => exclusive(writing, adopt(documents)),
    remove: (ids) => exclusive(writing, remove(ids)),
    settle: exclusive(indexing, settle),
    maintain: exclusive(indexing, maintain)
  }
}

/** `Library.document` with a cache of PDFs by path and content, so that a changed file is parsed again. */
const makeReader = Effect.fnUntraced(function* (library: OpenCollection["library"]) {
  const pdfs = yield* Cache.makeWith(
    (key: string) =>
      // Others may wait for the same entry: it must not fail when the first caller is interrupted.
      Effect.uninterruptible(
        Effect.flatMap(library, ({ document }) => document(key.slice(0, key.indexOf(" "))))
      ),
    { capacity: CACHED_PDFS, timeToLive: (exit) => (Exit.isSuccess(exit) ? "5 minutes" : "0 seconds") }
  )
  return Effect.fn("OpenCollections.read")(function* (id: string) {
    const open = yield* library
    const { info } = yield* open.file(id)
    return yield* info.format === "pdf" ? Cache.get(pdfs, `${id} ${info.sha256}`) : open.document(id)
  })
})

/** The server itself: its work is free. */
const SERVER: CallerInfo = { user: "", credential: "none", address: "", models: [] }

/**
 * Rebuilds a collection in the background whose passages are of another version. It can be read and written meanwhile.
 *
 * **Details.** Only with a free embedding model: vectors of changed passages would have to be paid otherwise.
 */
const renewOutdated = (name: string, rebuild: Stream.Stream<unknown, RagError, Embedder>) =>
  Effect.fnUntraced(
    function* (library: LibraryService) {
      const { isOutdated } = yield* library.stats
      if (!isOutdated) return
      const what = `The passages of collection "${name}" are of another version`
      if (!(yield* Embedder).model.free) {
        return yield* Effect.logWarning(`${what}. They stay readable; \`POST /rebuild\` makes them again`)
      }
      yield* Stream.runDrain(rebuild).pipe(
        Effect.andThen(Effect.logInfo(`${what}. They were made again`)),
        Effect.catch(({ message }) => Effect.logWarning(`${what}: ${message}`)),
        Effect.provideService(CurrentCaller, SERVER),
        Effect.forkScoped
      )
    },
    // A damaged collection fails when it is used.
    (renewing) => Effect.ignore(renewing)
  )

export interface CollectionHooks {
  /** Runs before a collection is made. */
  readonly beforeCreation: (name: string) => Effect.Effect<void, RagError>
  /** Counts the bytes of documents that were written. */
  readonly countStored: (bytes: number) => Effect.Effect<void>
}

export type ReadingOptions = Pick<LibraryOptions, "describeFigures" | "scannedPages">

const pickModels = Context.pick(Embedder, QuestionRewriter, Reranker, Reader, Verifier, Vision)

/** What it opens stays open as long as the surrounding scope. */
export const openCollections = Effect.fnUntraced(function* (
  folder: string,
  reading: ReadingOptions,
  { beforeCreation, countStored }: CollectionHooks,
  storeOptions: StoreOptions = {}
) {
  const scope = yield* Effect.scope
  const models = pickModels(yield* Effect.context<Models>())
  const store = yield* makeLazy(
    Effect.map(Layer.build(LanceIndex.layer(folder, storeOptions)), (built) =>
      Context.get(built, PassageIndex)
    )
  )
  const exclusive = yield* CommitLock
  const inTurn = (found: Collection) => takingTurns(found, exclusive, countStored, folder)
  const opened = new Map<string, OpenCollection>()
  const oneAtATime = yield* Semaphore.make(1)

  const open = (name: string, creates: boolean) =>
    Effect.gen(function* () {
      const known = opened.get(name)
      if (known !== undefined) {
        known.removal.creates ||= creates
        return known
      }
      const removal = { done: false, creates }
      const options = { ...storeOptions, collection: name, ...reading }
      const library = yield* makeLazy(
        Effect.flatMap(store.get, (index) =>
          Effect.provideService(Library.make(options), PassageIndex, {
            ...index,
            // `open` creates a missing collection. A late reader of a removed one must not bring it back.
            open: Effect.fnUntraced(function* (named, manifest) {
              const exists = removal.creates || (yield* index.collections).includes(named)
              if (removal.done || !exists) return yield* collectionNotFound(named)
              const found = yield* index.open(named, manifest)
              // It exists now. If another server removes it, only an upload may create it again.
              removal.creates = named === DEFAULT_COLLECTION
              return failIfRemoved(inTurn(found), removal, index.collections)
            })
          })
        ).pipe(
          Effect.tap(renewOutdated(name, Library.rebuild(folder, options))),
          Effect.provideContext(models)
        )
      )
      const read = yield* makeReader(library.get)
      const collection: OpenCollection = { library: library.get, status: library.status, read, removal }
      opened.set(name, collection)
      return collection
    }).pipe(Scope.provide(scope), oneAtATime.withPermit)

  const names = Effect.flatMap(store.get, ({ collections }) => collections)

  /** Opens a collection. A missing one is created if `create` is true; otherwise `NotFound`. */
  const collection = Effect.fn("OpenCollections.collection")(function* (name: string, create: boolean) {
    if (name === DEFAULT_COLLECTION) return yield* open(name, true)
    if (opened.has(name)) return yield* open(name, create)
    const existing = yield* names
    if (!existing.includes(name)) {
      if (!create) return yield* collectionNotFound(name)
      if (existing.length >= MAX_COLLECTIONS) return yield* tooMany
      yield* beforeCreation(name)
    }
    return yield* open(name, create)
  })

  /** Fails with `NotFound` for a missing collection. */
  const remove = Effect.fn("OpenCollections.remove")(function* (name: string) {
    const index = yield* store.get
    const handle = opened.get(name)
    if (!(yield* names).includes(name)) return yield* collectionNotFound(name)
    if (handle !== undefined) handle.removal.done = true
    opened.delete(name)
    yield* index.drop(name)
  }, oneAtATime.withPermit)

  /** The names of the collections that are open. */
  const openNames = Effect.suspend(() =>
    Effect.filter([...opened.keys()], (name) =>
      Effect.map(opened.get(name)!.status, ({ open }) => open !== undefined)
    )
  )

  return {
    collection,
    /** A collection that another model made, for its counts and removals. */
    existing: (name: string) =>
      Effect.map(
        Effect.flatMap(store.get, (index) => index.existing(name)),
        (old) => old && inTurn(old)
      ),
    names,
    openNames,
    remove,
    defaultCollection: yield* open(DEFAULT_COLLECTION, true)
  }
})
