/** The library that this server holds open, what state it is in, and its first filling. */
import { Library, type LibraryService, type LibraryStats, type Models, type RagError } from "@sluice/rag"
import { Context, Effect, FileSystem, Layer, Path, Ref, Stream } from "effect"
import { ServerConfig } from "../Config.ts"
import type { IngestEvent, ServerStatus } from "../contract/index.ts"
import { libraryError } from "../StartError.ts"
import { wireEvent } from "./IngestWire.ts"
import { openWhenWanted } from "./OpenLibrary.ts"
import { readQuestions, readSamples, SAMPLES } from "./Samples.ts"

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
      const folder = path.join(data, "library")
      const marker = path.join(data, "samples-read")
      const busy = yield* Ref.make<"filling" | "rebuilding" | undefined>(undefined)

      const { library, isOpen } = yield* openWhenWanted(folder)
      yield* library.pipe(
        Effect.catchIf(
          ({ reason }) => reason === "ManifestMismatch" || reason === "Model",
          (error) => Effect.logWarning(error.message)
        ),
        Effect.mapError(libraryError(data))
      )

      const during = (state: "filling" | "rebuilding") =>
        Effect.acquireRelease(Ref.set(busy, state), () => Ref.set(busy, undefined))

      const stateWhen = (stats: LibraryStats, now: "filling" | "rebuilding" | undefined): ShelfState => ({
        documents: stats.documents,
        passages: stats.passages,
        state: now ?? "ready"
      })
      const state: Effect.Effect<ShelfState, RagError> = Effect.gen(function* () {
        const now = yield* Ref.get(busy)
        return yield* Effect.flatMap(library, ({ stats }) => stats).pipe(
          Effect.map((stats) => stateWhen(stats, now)),
          Effect.catchIf(
            ({ reason }) => reason === "ManifestMismatch" || reason === "Model",
            ({ reason, message }) =>
              Effect.succeed<ShelfState>({
                documents: 0,
                passages: 0,
                state: now ?? (reason === "Model" ? "unavailable" : "rebuild-needed"),
                message
              })
          )
        )
      })

      const rebuild: Stream.Stream<IngestEvent, RagError> = Stream.unwrap(
        Effect.gen(function* () {
          yield* during("rebuilding")
          const events = (yield* isOpen)
            ? (yield* library).rebuild
            : Library.rebuild(folder).pipe(Stream.provideContext(models))
          return Stream.map(events, (event) => wireEvent(event))
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
