/** A library that this server holds open: what state it is in, and its first filling. */
import { Library, type LibraryService, type Models, type RagError } from "@sluice/rag"
import { Effect, FileSystem, type Path, Ref, Stream } from "effect"
import type { IngestEvent, ServerStatus } from "../contract/index.ts"
import { wireEvents } from "./IngestWire.ts"
import { makeDocumentReader } from "./DocumentReader.ts"
import { openWhenWanted } from "./OpenLibrary.ts"
import { readSamples, SAMPLES } from "./Samples.ts"

type Busy = "filling" | "rebuilding"

/** What can be said at any time: counts are 0 while the library cannot be opened. */
export type ShelfState = Pick<ServerStatus, "state" | "message" | "documents" | "passages">

/**
 * One library and its state.
 *
 * **Details.** `library` fails with `ManifestMismatch` while the library was made with other models: the server stays
 * up meanwhile, and `rebuild` mends it. It fails with `Model` while the gateway cannot be reached. `fill` reads the
 * samples into a library that holds nothing else; broken off, it goes on at the next start.
 */
export interface Shelf {
  readonly library: Effect.Effect<LibraryService, RagError>
  /** Reads a document again from its original; PDFs are remembered for a while. */
  readonly read: LibraryService["document"]
  readonly state: Effect.Effect<ShelfState, RagError>
  readonly rebuild: Stream.Stream<IngestEvent, RagError>
  /** `marker` is a file that says that they were read. */
  readonly fill: (marker: string) => Effect.Effect<void>
}

/** The shelf of a folder, held for as long as the surrounding scope lives. */
export const makeShelf = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const platform = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
  const models = yield* Effect.context<Models>()
  const scope = yield* Effect.scope
  const busy = yield* Ref.make<Busy | undefined>(undefined)

  const { library, known } = yield* openWhenWanted(folder)
  const during = (state: Busy) => Effect.acquireRelease(Ref.set(busy, state), () => Ref.set(busy, undefined))

  const state: Effect.Effect<ShelfState, RagError> = Effect.gen(function* () {
    const now = yield* Ref.get(busy)
    const { library: open, error } = yield* known
    if (open !== undefined) {
      const { documents, passages } = yield* open.stats
      return { documents, passages, state: now ?? "ready" }
    }
    // Asked about, it is tried again; who asks does not wait for it.
    yield* Effect.forkIn(library, scope)
    const state = error?.reason === "ManifestMismatch" ? "rebuild-needed" : "unavailable"
    return {
      documents: 0,
      passages: 0,
      state: now === "rebuilding" ? now : state,
      message: error?.message ?? "The gateway has not answered yet: the library opens as soon as it does"
    }
  })

  const rebuild: Stream.Stream<IngestEvent, RagError> = Stream.unwrap(
    Effect.gen(function* () {
      yield* during("rebuilding")
      const { library: open } = yield* known
      const anew = Library.rebuild(folder).pipe(
        Stream.provideContext(models),
        // Open again by the time the caller reads that it is done.
        Stream.tap(({ type }) => (type === "done" ? library : Effect.void))
      )
      const events = open?.rebuild ?? anew
      return Stream.flatMap(events, (event) => Stream.fromIterable(wireEvents(event)))
    })
  )

  const fillOnce = Effect.fnUntraced(function* (marker: string) {
    if (yield* fs.exists(marker)) return
    const { documents, ingest } = yield* library
    const samples = yield* readSamples(SAMPLES)
    const paths = new Set(samples.map((sample) => sample.path))
    if ((yield* documents).every((document) => paths.has(document.path))) {
      const { failed } = yield* ingest({ files: samples })
      for (const { path, error } of failed) {
        yield* Effect.logWarning(`The sample ${path} was not read: ${error.message}`)
      }
    }
    yield* fs.writeFileString(marker, "")
  })
  const notFilled = (error: { readonly message: string }) =>
    Effect.logWarning(`The samples were not read: ${error.message}. The server tries again at its next start`)

  return {
    library,
    read: yield* makeDocumentReader(library),
    state,
    rebuild,
    fill: (marker) =>
      fillOnce(marker).pipe(
        Effect.catch(notFilled),
        (filled) => Effect.andThen(during("filling"), filled),
        Effect.scoped,
        Effect.provideContext(platform)
      )
  } satisfies Shelf
})
