/** One user's library: its collections, its state, the samples, and rebuilds. */
import { Embedder, Vision } from "@sluice/core"
import { asSentence, Failure } from "@sluice/core/contract"
import { Library, RagError, type RagReason } from "@sluice/rag"
import { documentId, type StoreOptions } from "@sluice/rag/store"
import { Context, Effect, FileSystem, type Path, Ref, Stream, Struct } from "effect"
import { DEFAULT_COLLECTION } from "../contract/Names.ts"
import type { ServerStatus } from "../contract/index.ts"
import {
  type CollectionHooks,
  type OpenCollection,
  openCollections,
  type ReadingOptions
} from "./OpenCollections.ts"
import { messageOf, reasonCode } from "./RagFailure.ts"
import { makeProgress, makeRebuilds } from "./Rebuilds.ts"
import { readSamples, SAMPLES } from "./Samples.ts"

/** Formats with pictures, which take a second or more to read. */
const HAS_PICTURES = /\.(?:docx|png|jpe?g|webp)$/i

const rebuildRunning = new RagError({
  stage: "store",
  reason: "Stale",
  message: "The library is being rebuilt. Remove the collection when GET /status says `ready`"
})

const WAITING_FOR_GATEWAY = "The gateway has not responded yet. The library opens as soon as it does"

const PREVIOUS_ANSWERS = "The previous models answer until the library is rebuilt."

const needsRebuild = ({ reason }: RagError): boolean => reason === "ManifestMismatch"

/** The states of a library that does not open. For other reasons it is `unavailable`. */
const CLOSED_STATES: { readonly [R in RagReason]?: ServerStatus["state"] } = {
  ManifestMismatch: "rebuild-needed",
  Damaged: "damaged"
}

/** A library that the models before the last change have open. */
interface PreviousLibrary {
  readonly collection: (name: string, create: boolean) => Effect.Effect<OpenCollection, RagError>
}

const NO_COUNTS = { documents: 0, passages: 0 }

type Busy = "filling" | "rebuilding"

/** The counts are 0 while the library cannot be read. */
export interface LibraryState extends Pick<ServerStatus, "state" | "message"> {
  readonly documents: number
  readonly passages: number
}

/** Adds the samples, texts before pictures, so that questions can be answered sooner. */
const addSamples = Effect.fnUntraced(function* ({ library }: OpenCollection, marker: string) {
  const fs = yield* FileSystem.FileSystem
  if (yield* fs.exists(marker)) return
  const { documents, ingest } = yield* library
  const samples = yield* readSamples(SAMPLES)
  const paths = new Set(samples.map((sample) => sample.path))
  if ((yield* documents).every((document) => paths.has(document.path))) {
    const pictures = samples.filter(({ path }) => HAS_PICTURES.test(path))
    for (const files of [samples.filter((sample) => !pictures.includes(sample)), pictures]) {
      const { failed } = yield* ingest({ files })
      for (const { path, error } of failed) {
        yield* Effect.logWarning(`The sample ${path} could not be read: ${error.message}`)
      }
    }
  }
  yield* fs.writeFileString(marker, "")
})

/** In place of the advice to rebuild. */
const beingRebuilt = ({ reason, stage }: RagError, message: string) =>
  new RagError({
    stage,
    reason,
    message,
    cause: new Failure({ status: 409, code: reasonCode(reason), message })
  })

type Previous = Effect.Effect<PreviousLibrary | undefined>

type Collections = Effect.Success<ReturnType<typeof openCollections>>

/** A collection that is used with the previous models while it waits for a rebuild. */
const fallBackTo =
  (previous: Previous, existing: Collections["existing"], running: Effect.Effect<string | undefined>) =>
  (opened: OpenCollection, name: string) => {
    const orPrevious = <A>(
      use: Effect.Effect<A, RagError>,
      usePrevious: (collection: OpenCollection) => Effect.Effect<A, RagError>
    ) =>
      Effect.catchIf(use, needsRebuild, (error) =>
        Effect.gen(function* () {
          const library = yield* previous
          if (library !== undefined) return yield* usePrevious(yield* library.collection(name, false))
          const message = yield* running
          return yield* message === undefined ? error : beingRebuilt(error, message)
        })
      )
    return {
      ...opened,
      library: orPrevious(opened.library, ({ library }) => library),
      read: (id: string) => orPrevious(opened.read(id), ({ read }) => read(id)),
      /** Needs no model: a document whose original is damaged stops the rebuild. */
      removeDocument: (id: string) =>
        Effect.catchIf(
          Effect.flatMap(opened.library, ({ remove }) => remove(id)),
          needsRebuild,
          Effect.fnUntraced(function* (error) {
            const old = yield* existing(name)
            const found = (yield* old!.document(id)) ?? (yield* old!.document(documentId(id)))
            if (found === undefined) return yield* error
            yield* old!.remove([found.info.id])
            return found.info
          })
        )
    }
  }

/** Bytes of all documents. */
const countBytes = Effect.fnUntraced(function* ({
  collection,
  existing,
  names
}: Pick<Collections, "collection" | "existing" | "names">) {
  let sum = 0
  for (const name of yield* names) {
    const { library } = yield* collection(name, false)
    sum += yield* Effect.flatMap(library, (open) => open.storedBytes).pipe(
      Effect.catchIf(
        ({ reason }) => reason === "ManifestMismatch",
        () => Effect.flatMap(existing(name), (old) => old?.storedBytes ?? Effect.succeed(0))
      ),
      // A collection that cannot be opened does not stop uploads into the others.
      Effect.orElseSucceed(() => 0)
    )
  }
  return sum
})

/**
 * Opens the collections of a data folder. They stay open as long as the surrounding scope. `library`, `status` and
 * `state` are those of the default collection.
 *
 * **Details.** A library that was built with other models is used with `previous` until `rebuild`. Without it, it fails with
 * `ManifestMismatch`. It fails with `Model` while the gateway cannot be reached. The server stays up in both cases.
 */
export const makeUserLibrary = Effect.fnUntraced(function* (
  folder: string,
  reading: ReadingOptions,
  previous: Previous,
  hooks: CollectionHooks,
  storeOptions: StoreOptions = {}
) {
  const platform = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
  const models = Context.pick(Embedder, Vision)(yield* Effect.context<Embedder>())
  const scope = yield* Effect.scope
  const busy = yield* Ref.make<Busy | undefined>(undefined)
  const collections = yield* openCollections(folder, reading, hooks, storeOptions)
  const { defaultCollection, names } = collections
  const progress = makeProgress()
  const running = Effect.map(Ref.get(busy), (now) => (now === "rebuilding" ? progress.message() : undefined))
  const withPrevious = fallBackTo(previous, collections.existing, running)
  const collection = (name: string, create: boolean) =>
    Effect.map(collections.collection(name, create), (opened) => withPrevious(opened, name))
  const during = (state: Busy) => Effect.acquireRelease(Ref.set(busy, state), () => Ref.set(busy, undefined))

  /** Whether the default collection is open, without reading it. If it is not, the server tries again. */
  const readiness: Effect.Effect<Pick<LibraryState, "state" | "message">> = Effect.gen(function* () {
    const now = yield* Ref.get(busy)
    const { open, error } = yield* defaultCollection.status
    if (open !== undefined) return { state: now ?? "ready" }
    // The caller does not wait.
    yield* Effect.forkIn(defaultCollection.library, scope)
    const state = (error && CLOSED_STATES[error.reason]) ?? "unavailable"
    const answers = state === "rebuild-needed" && (yield* previous) !== undefined
    const problem = (yield* running) ?? (error === undefined ? WAITING_FOR_GATEWAY : messageOf(error))
    return { state: now === "rebuilding" ? now : state, message: answers ? PREVIOUS_ANSWERS : problem }
  })

  const state: Effect.Effect<LibraryState> = Effect.gen(function* () {
    const now = yield* readiness
    const stored = now.state === "unavailable" ? Effect.undefined : collections.existing(DEFAULT_COLLECTION)
    const stats = Effect.flatMap(stored, (found) => found?.stats ?? Effect.succeed(NO_COUNTS))
    const { documents, passages } = yield* Effect.orElseSucceed(stats, () => NO_COUNTS)
    return { documents, passages, ...now }
  })

  /** Removes a collection with its documents. Fails with `NotFound`, or `Stale` during a rebuild. */
  const remove = Effect.fn("UserLibrary.remove")(function* (name: string) {
    // The end of a rebuild would bring the collection back.
    if ((yield* Ref.get(busy)) === "rebuilding") return yield* rebuildRunning
    yield* collections.remove(name)
  })

  const rebuildOne = (name: string) =>
    Stream.unwrap(
      Effect.gen(function* () {
        const { library, status } = yield* collection(name, false)
        const { open } = yield* status
        return (
          open?.rebuild ??
          Library.rebuild(folder, { ...storeOptions, collection: name, ...reading }).pipe(
            Stream.provideContext(models),
            // The library is open again before the caller reads `done`.
            Stream.tap(({ type }) => (type === "done" ? library : Effect.void))
          )
        )
      })
    )

  const rebuilds = makeRebuilds({ names, progress, rebuildOne, start: during("rebuilding") })

  /** Adds the samples once: `marker` is the file that says so. The next start continues an interrupted run. */
  const fill = (marker: string) =>
    addSamples(defaultCollection, marker).pipe(
      Effect.catch((error: { readonly message: string }) =>
        Effect.logWarning(
          `The samples could not be added: ${asSentence(error.message)} The server tries again at its next start`
        )
      ),
      (filled) => Effect.andThen(during("filling"), filled),
      Effect.scoped,
      Effect.provideContext(platform)
    )

  return {
    ...withPrevious(defaultCollection, DEFAULT_COLLECTION),
    collection,
    ...Struct.pick(collections, ["names", "openNames", "existing"]),
    remove,
    readiness,
    state,
    storedBytes: countBytes({ ...collections, collection }),
    /** Bytes of files that were received: by running uploads, and by all since the start. */
    uploads: { running: 0, received: 0 },
    planRebuild: rebuilds.plan(folder, storeOptions),
    rebuild: rebuilds.all,
    fill
  }
})

export type UserLibrary = Effect.Success<ReturnType<typeof makeUserLibrary>>
