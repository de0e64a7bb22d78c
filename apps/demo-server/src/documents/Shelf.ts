/** The library that this server holds open, what state it is in, and its first filling. */
import { Library, type LibraryService, type Models, type RagError, type RagReason } from "@sluice/rag"
import { Context, Effect, FileSystem, Layer, Path, Ref, Stream } from "effect"
import { ServerConfig } from "../Config.ts"
import type { IngestEvent, ServerStatus } from "../contract/index.ts"
import { libraryError } from "../StartError.ts"
import { wireEvents } from "./IngestWire.ts"
import { openWhenWanted } from "./OpenLibrary.ts"
import { readQuestions, readSamples, SAMPLES } from "./Samples.ts"

type Busy = "filling" | "rebuilding"

/** How long the start waits for the library. Embedded models are there at once. */
const PATIENCE = "2 seconds"

/** With these the server stays up: a rebuild mends the one, time or the operator the other. */
const isMendable = (reason: RagReason): boolean => reason === "ManifestMismatch" || reason === "Model"

/** What can be said at any time: counts are 0 while the library cannot be opened. */
export type ShelfState = Pick<ServerStatus, "state" | "message" | "documents" | "passages">

/**
 * One library and its state.
 *
 * **Details.** `library` fails with `ManifestMismatch` while the library was made with other models: the server stays
 * up meanwhile, and `rebuild` mends it. It fails with `Model` while the gateway cannot be reached. Other failures to
 * open are failures to start. `fill` reads the samples into a library that holds nothing else; broken off, it goes on
 * at the next start.
 */
export class Shelf extends Context.Service<
  Shelf,
  {
    readonly library: Effect.Effect<LibraryService, RagError>
    readonly state: Effect.Effect<ShelfState, RagError>
    readonly rebuild: Stream.Stream<IngestEvent, RagError>
    readonly fill: Effect.Effect<void>
    readonly questions: ReadonlyArray<string>
  }
>()("@sluice/demo-server/Shelf") {
  static readonly layer = Layer.effect(
    Shelf,
    Effect.gen(function* () {
      const { data } = yield* ServerConfig
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const platform = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
      const models = yield* Effect.context<Models>()
      const scope = yield* Effect.scope
      const folder = path.join(data, "library")
      const marker = path.join(data, "samples-read")
      const busy = yield* Ref.make<Busy | undefined>(undefined)

      const { library, known } = yield* openWhenWanted(folder)
      // A gateway that is slow or down must not keep the page from coming up.
      yield* Effect.timeoutOption(library, PATIENCE).pipe(
        Effect.catchIf(
          ({ reason }) => isMendable(reason),
          (error) => Effect.logWarning(error.message)
        ),
        Effect.mapError(libraryError(data))
      )

      const during = (state: Busy) =>
        Effect.acquireRelease(Ref.set(busy, state), () => Ref.set(busy, undefined))

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

      const fill = Effect.gen(function* () {
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
      }).pipe(
        Effect.catch((error) =>
          Effect.logWarning(
            `The samples were not read: ${error.message}. The server tries again at its next start`
          )
        )
      )

      return {
        library,
        state,
        rebuild,
        fill: Effect.scoped(Effect.andThen(during("filling"), fill)).pipe(Effect.provideContext(platform)),
        questions: yield* readQuestions(SAMPLES).pipe(
          Effect.catch((error) => Effect.as(Effect.logWarning(`No starter questions: ${error.message}`), []))
        )
      }
    })
  )
}
