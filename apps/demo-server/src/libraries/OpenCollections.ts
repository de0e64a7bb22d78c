/** The collections of one folder, each opened when it is first wanted, over one store. */
import { LanceIndex, Library, type LibraryService, type Models, PassageIndex, RagError } from "@sluice/rag"
import { Context, Effect, Layer, Schedule, Scope, Semaphore } from "effect"
import { DEFAULT_COLLECTION } from "../contract/Collections.ts"
import { makeDocumentReader } from "./DocumentReader.ts"
import { type Known, openWhenWanted } from "./LazyResource.ts"

/** Collections of one user at most: each that is asked is held open. */
const MAX_COLLECTIONS = 100

/** Their files are joined, and what nobody reads any more is dropped, this often. */
const MAINTAINED_EVERY = "1 hour"

/** One of them. */
export interface OpenCollection {
  readonly library: Effect.Effect<LibraryService, RagError>
  readonly known: Effect.Effect<Known<LibraryService>>
  /** Reads a document again; PDFs are remembered for a while. */
  readonly read: LibraryService["document"]
}

export interface Opened extends OpenCollection {
  readonly handle: { removed: boolean }
}

const notThere = (name: string) =>
  new RagError({
    stage: "open",
    reason: "NotFound",
    message: `There is no collection "${name}": GET /collections lists those that there are, an upload makes one`,
    document: "collection"
  })

const tooMany = new RagError({
  stage: "open",
  reason: "TooLarge",
  message: `There are ${MAX_COLLECTIONS} collections already, which is the most: use one of them, or remove one`
})

type Collection = Effect.Success<ReturnType<PassageIndex["Service"]["open"]>>

/** Who uses a collection while it is removed hears that it is gone, not that its files are. */
const toldGone = (collection: Collection, handle: Opened["handle"]): Collection => {
  const told = <A>(use: Effect.Effect<A, RagError>) =>
    Effect.mapError(use, (error) => (handle.removed ? notThere(collection.name) : error))
  return {
    ...collection,
    commit: (documents) => told(collection.commit(documents)),
    adopt: (documents) => told(collection.adopt(documents)),
    remove: (ids) => told(collection.remove(ids)),
    search: (query) => told(collection.search(query)),
    passages: (document) => told(collection.passages(document)),
    documents: told(collection.documents),
    inventory: told(collection.inventory),
    document: (id) => told(collection.document(id)),
    original: (sha256) => told(collection.original(sha256)),
    passageCount: told(collection.passageCount),
    stats: told(collection.stats),
    settle: told(collection.settle),
    maintain: told(collection.maintain)
  }
}

/** Holds what it opened for as long as the surrounding scope lives. */
export const openCollections = Effect.fnUntraced(function* (folder: string, describeFigures: boolean) {
  const scope = yield* Effect.scope
  const models = yield* Effect.context<Models>()
  const store = yield* openWhenWanted(
    Effect.map(Layer.build(LanceIndex.layer(folder)), (built) => Context.get(built, PassageIndex))
  )
  const opened = new Map<string, Opened>()
  const oneAtATime = yield* Semaphore.make(1)

  const open = (name: string) =>
    Effect.gen(function* () {
      const known = opened.get(name)
      if (known !== undefined) return known
      const handle = { removed: false }
      const library = yield* openWhenWanted(
        Effect.flatMap(store.wanted, (index) =>
          Effect.provideService(Library.make({ collection: name, describeFigures }), PassageIndex, {
            ...index,
            // Opening makes what is not there: who still reads what was removed must not bring it back.
            open: (named, manifest) =>
              handle.removed
                ? notThere(named)
                : Effect.map(index.open(named, manifest), (opened) => toldGone(opened, handle))
          })
        )
      )
      const collection: Opened = {
        library: library.wanted,
        known: library.known,
        read: yield* makeDocumentReader(library.wanted),
        handle
      }
      opened.set(name, collection)
      return collection
      // Of two that ask at once the second finds what the first made.
    }).pipe(Scope.provide(scope), Effect.provideContext(models), oneAtATime.withPermit)

  const names = Effect.flatMap(store.wanted, ({ collections }) => collections)

  /** Of a name that is not there yet, `made` makes it; else it fails with `NotFound`. */
  const collection = Effect.fn("OpenCollections.collection")(function* (name: string, made: boolean) {
    if (name === DEFAULT_COLLECTION || opened.has(name)) return yield* open(name)
    const there = yield* names
    if (!there.includes(name)) {
      if (!made) return yield* notThere(name)
      if (there.length >= MAX_COLLECTIONS) return yield* tooMany
    }
    return yield* open(name)
  })

  /** Fails with `NotFound`. One that is opened meanwhile waits. */
  const remove = Effect.fn("OpenCollections.remove")(function* (name: string) {
    const index = yield* store.wanted
    const handle = opened.get(name)?.handle
    if (!(yield* names).includes(name)) return yield* notThere(name)
    if (handle !== undefined) handle.removed = true
    opened.delete(name)
    yield* index.drop(name)
  }, oneAtATime.withPermit)

  const maintainAll = Effect.gen(function* () {
    for (const [name, { known }] of opened) {
      const { open: library } = yield* known
      if (library === undefined) continue
      yield* library.maintain.pipe(
        Effect.catch(({ message }) =>
          Effect.logWarning(`The collection "${name}" was not maintained: ${message}`)
        )
      )
    }
  }).pipe(Effect.withSpan("OpenCollections.maintain"))
  yield* Effect.forkIn(Effect.schedule(maintainAll, Schedule.spaced(MAINTAINED_EVERY)), scope)

  return { collection, names, remove, whole: yield* open(DEFAULT_COLLECTION) }
})
