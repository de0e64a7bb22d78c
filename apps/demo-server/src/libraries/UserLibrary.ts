/** The libraries of a folder that this server holds open: what state they are in, and their first filling. */
import { sentence } from "@sluice/core/contract"
import { Library, type Models, RagError } from "@sluice/rag"
import { Effect, FileSystem, type Path, Ref, Stream } from "effect"
import { DEFAULT_COLLECTION } from "../contract/Collections.ts"
import type { IngestStreamEvent, ServerStatus } from "../contract/index.ts"
import { toStreamEvents } from "./IngestBody.ts"
import { messageOf } from "./RagFailure.ts"
import { type OpenCollection, openCollections } from "./OpenCollections.ts"
import { rebuiltTogether } from "./Rebuilt.ts"
import { readSamples, SAMPLES } from "./Samples.ts"

/** Formats of which pictures are read. */
const PICTURED = /\.(?:docx|png|jpe?g|webp)$/i

const beingRebuilt = new RagError({
  stage: "store",
  reason: "Stale",
  message: "The library is being rebuilt: remove the collection when GET /status says `ready`"
})

const NOT_YET = "The gateway has not answered yet: the library opens as soon as it does"

type Busy = "filling" | "rebuilding"

/** What can be said at any time: counts are 0 while the library cannot be opened. */
export type ShelfState = Pick<ServerStatus, "state" | "message" | "documents" | "passages">

/**
 * The collections of one folder and their state, which is that of the collection of whoever names none.
 *
 * **Details.** A library fails with `ManifestMismatch` while it was made with other models: the server stays up
 * meanwhile, and `rebuild` mends it. It fails with `Model` while the gateway cannot be reached. `fill` reads the samples
 * into the default collection where that holds nothing else; broken off, it goes on at the next start.
 */
export interface Shelf extends OpenCollection {
  /** Another collection; one that is not there is made where `made` says so, else it is `NotFound`. */
  readonly collection: (name: string, made: boolean) => Effect.Effect<OpenCollection, RagError>
  /** Removes a collection with all that is in it; `NotFound`, or `Stale` while the library is being rebuilt. */
  readonly remove: (name: string) => Effect.Effect<void, RagError>
  /** All that are there. */
  readonly names: Effect.Effect<ReadonlyArray<string>, RagError>
  readonly state: Effect.Effect<ShelfState, RagError>
  /** Of all collections, one after the other. */
  readonly rebuild: Stream.Stream<IngestStreamEvent, RagError>
  /** `marker` is a file that says that they were read. */
  readonly fill: (marker: string) => Effect.Effect<void>
}

/** The shelf of a folder, held for as long as the surrounding scope lives. */
export const makeShelf = Effect.fnUntraced(function* (folder: string, describeFigures: boolean) {
  const fs = yield* FileSystem.FileSystem
  const platform = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
  const models = yield* Effect.context<Models>()
  const scope = yield* Effect.scope
  const busy = yield* Ref.make<Busy | undefined>(undefined)

  const { collection, names, remove, whole } = yield* openCollections(folder, describeFigures)
  const { library, known } = whole
  const during = (state: Busy) => Effect.acquireRelease(Ref.set(busy, state), () => Ref.set(busy, undefined))

  const state: Effect.Effect<ShelfState, RagError> = Effect.gen(function* () {
    const now = yield* Ref.get(busy)
    const { open, error } = yield* known
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
      message: error === undefined ? NOT_YET : messageOf(error)
    }
  })

  const removed = Effect.fn("Shelf.remove")(function* (name: string) {
    // A rebuild gives the name to a new table when it is done.
    if ((yield* Ref.get(busy)) === "rebuilding") return yield* beingRebuilt
    yield* remove(name)
  })

  const rebuildOne = (name: string) =>
    Stream.unwrap(
      Effect.gen(function* () {
        const of = yield* collection(name, false)
        const { open } = yield* of.known
        return (
          open?.rebuild ??
          Library.rebuild(folder, { collection: name, describeFigures }).pipe(
            Stream.provideContext(models),
            // Open again by the time the caller reads that it is done.
            Stream.tap(({ type }) => (type === "done" ? of.library : Effect.void))
          )
        )
      })
    )

  const rebuild: Stream.Stream<IngestStreamEvent, RagError> = Stream.unwrap(
    Effect.gen(function* () {
      yield* during("rebuilding")
      const there = yield* names
      const all = [DEFAULT_COLLECTION, ...there.filter((name) => name !== DEFAULT_COLLECTION)]
      return Stream.flatMap(rebuiltTogether(all.map(rebuildOne)), (event) =>
        Stream.fromIterable(toStreamEvents(event))
      )
    })
  )

  const fillOnce = Effect.fnUntraced(function* (marker: string) {
    if (yield* fs.exists(marker)) return
    const { documents, ingest } = yield* library
    const samples = yield* readSamples(SAMPLES)
    const paths = new Set(samples.map((sample) => sample.path))
    if ((yield* documents).every((document) => paths.has(document.path))) {
      // Reading a picture takes a second: what is only text can be asked before.
      const pictured = samples.filter(({ path }) => PICTURED.test(path))
      for (const files of [samples.filter((sample) => !pictured.includes(sample)), pictured]) {
        const { failed } = yield* ingest({ files })
        for (const { path, error } of failed) {
          yield* Effect.logWarning(`The sample ${path} was not read: ${error.message}`)
        }
      }
    }
    yield* fs.writeFileString(marker, "")
  })
  const notFilled = (error: { readonly message: string }) =>
    Effect.logWarning(
      `The samples were not read: ${sentence(error.message)} The server tries again at its next start`
    )

  return {
    ...whole,
    collection,
    names,
    remove: removed,
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
