/** One user's library: its collections, its state, the samples, and rebuilds. */
import { Embedder, Vision } from "@sluice/core"
import { asSentence } from "@sluice/core/contract"
import { type IngestEvent, type IngestReport, Library, RagError } from "@sluice/rag"
import { Context, Effect, FileSystem, type Path, Record, Ref, Stream } from "effect"
import { DEFAULT_COLLECTION } from "../contract/Names.ts"
import type { IngestStreamEvent, ServerStatus } from "../contract/index.ts"
import { toStreamEvents } from "./IngestBody.ts"
import { type OpenCollection, openCollections } from "./OpenCollections.ts"
import { messageOf } from "./RagFailure.ts"
import { readSamples, SAMPLES } from "./Samples.ts"

/** Formats with pictures, which take a second or more to read. */
const HAS_PICTURES = /\.(?:docx|png|jpe?g|webp)$/i

const rebuildRunning = new RagError({
  stage: "store",
  reason: "Stale",
  message: "The library is being rebuilt. Remove the collection when GET /status says `ready`"
})

const WAITING_FOR_GATEWAY = "The gateway has not responded yet. The library opens as soon as it does"

type Busy = "filling" | "rebuilding"

/** The counts are 0 while the library cannot be opened. */
export interface LibraryState extends Pick<ServerStatus, "state" | "message"> {
  readonly documents: number
  readonly passages: number
}

const addReports = ({ failed, ...counts }: IngestReport, other: IngestReport): IngestReport => ({
  ...Record.map(counts, (count, name) => count + other[name]),
  failed: [...failed, ...other.failed]
})

/** Runs rebuilds one after the other. Emits one `done`, with the sum of the reports. */
const concatRebuilds = (
  rebuilds: ReadonlyArray<Stream.Stream<IngestEvent, RagError>>
): Stream.Stream<IngestEvent, RagError> =>
  Stream.fromIterable(rebuilds).pipe(
    Stream.flatMap((rebuild) => rebuild),
    Stream.mapAccum(
      (): ReadonlyArray<IngestReport> => [],
      (done, event): [ReadonlyArray<IngestReport>, ReadonlyArray<IngestEvent>] => {
        if (event.type !== "done") return [done, [event]]
        const reports = [...done, event.report]
        const isLast = reports.length === rebuilds.length
        return [reports, isLast ? [{ ...event, report: reports.reduce(addReports) }] : []]
      }
    )
  )

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

/** Bytes of all documents. */
const countBytes = Effect.fnUntraced(function* ({
  collection,
  names
}: Effect.Success<ReturnType<typeof openCollections>>) {
  let sum = 0
  for (const name of yield* names) {
    const { library } = yield* collection(name, false)
    // A collection that cannot be opened does not stop uploads into the others.
    sum += yield* Effect.orElseSucceed(
      Effect.flatMap(library, (open) => open.storedBytes),
      () => 0
    )
  }
  return sum
})

/**
 * Opens the collections of a data folder. They stay open as long as the surrounding scope. `library`, `status` and
 * `state` are those of the default collection.
 *
 * **Details.** A library that was built with other models fails with `ManifestMismatch` until `rebuild`. It fails with
 * `Model` while the gateway cannot be reached. The server stays up in both cases.
 */
export const makeUserLibrary = Effect.fnUntraced(function* (folder: string, describeFigures: boolean) {
  const platform = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
  const models = Context.pick(Embedder, Vision)(yield* Effect.context<Embedder>())
  const scope = yield* Effect.scope
  const busy = yield* Ref.make<Busy | undefined>(undefined)
  const collections = yield* openCollections(folder, describeFigures)
  const { collection, defaultCollection, names } = collections
  const during = (state: Busy) => Effect.acquireRelease(Ref.set(busy, state), () => Ref.set(busy, undefined))

  /** Whether the default collection is open, without reading it. If it is not, the server tries again. */
  const readiness: Effect.Effect<Pick<LibraryState, "state" | "message">> = Effect.gen(function* () {
    const now = yield* Ref.get(busy)
    const { open, error } = yield* defaultCollection.status
    if (open !== undefined) return { state: now ?? "ready" }
    // The caller does not wait.
    yield* Effect.forkIn(defaultCollection.library, scope)
    const state = error?.reason === "ManifestMismatch" ? "rebuild-needed" : "unavailable"
    return {
      state: now === "rebuilding" ? now : state,
      message: error === undefined ? WAITING_FOR_GATEWAY : messageOf(error)
    }
  })

  const state: Effect.Effect<LibraryState, RagError> = Effect.gen(function* () {
    const { open } = yield* defaultCollection.status
    const counts = open === undefined ? { documents: 0, passages: 0 } : yield* open.stats
    return { documents: counts.documents, passages: counts.passages, ...(yield* readiness) }
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
          Library.rebuild(folder, { collection: name, describeFigures }).pipe(
            Stream.provideContext(models),
            // The library is open again before the caller reads `done`.
            Stream.tap(({ type }) => (type === "done" ? library : Effect.void))
          )
        )
      })
    )

  /** Rebuilds all collections, one after the other. */
  const rebuild: Stream.Stream<IngestStreamEvent, RagError> = Stream.unwrap(
    Effect.gen(function* () {
      yield* during("rebuilding")
      const all = new Set([DEFAULT_COLLECTION, ...(yield* names)])
      return Stream.flatMap(concatRebuilds([...all].map(rebuildOne)), (event) =>
        Stream.fromIterable(toStreamEvents(event))
      )
    })
  )

  /**
   * Adds the samples to the default collection if it has no other documents, then creates the file `marker`, so that
   * they are added once. An interrupted run continues at the next start.
   */
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
    ...defaultCollection,
    collection,
    names,
    remove,
    readiness,
    state,
    storedBytes: countBytes(collections),
    /** Bytes of files that were received: by running uploads, and by all since the start. */
    uploads: { running: 0, received: 0 },
    rebuild,
    fill
  }
})

export type UserLibrary = Effect.Success<ReturnType<typeof makeUserLibrary>>
