/** The libraries of the users, each their own: the owner's in `library`, another's in a folder of its own. */
import type { RagReason } from "@sluice/rag"
import { Context, Effect, type FileSystem, Layer, Path, Scope, Semaphore } from "effect"
import { OWNER } from "../accounts/Owner.ts"
import { ServerConfig } from "../config/ServerConfig.ts"
import { libraryError } from "../config/StartError.ts"
import { metered } from "./BilledModels.ts"
import { messageOf } from "./RagFailure.ts"
import { readQuestions, SAMPLES } from "./Samples.ts"
import { makeShelf, type Shelf } from "./UserLibrary.ts"

/** How long the start waits for the library. Embedded models are there at once. */
const PATIENCE = "2 seconds"

/** With these the server stays up: a rebuild mends the one, time or the operator the other. */
const isMendable = (reason: RagReason): boolean => reason === "ManifestMismatch" || reason === "Model"

/**
 * Every user's shelf.
 *
 * **Details.** The owner's library is opened at the start: a failure that neither a rebuild nor time mends is a failure
 * to start. Another's is opened when they first ask, empty at first, and held until the server ends.
 */
export class Shelves extends Context.Service<
  Shelves,
  {
    readonly of: (user: string) => Effect.Effect<Shelf>
    /** Reads the samples into the owner's library, unless the configuration wants none. */
    readonly fill: Effect.Effect<void>
    /** Questions that the samples answer. */
    readonly questions: ReadonlyArray<string>
  }
>()("@sluice/demo-server/Shelves") {
  static readonly layer = Layer.effect(
    Shelves,
    Effect.gen(function* () {
      const { data, describeFigures, samples } = yield* ServerConfig
      const path = yield* Path.Path
      const scope = yield* Effect.scope
      const platform = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
      const models = yield* metered
      const open = (folder: string) =>
        makeShelf(folder, describeFigures).pipe(
          Scope.provide(scope),
          Effect.provideContext(models),
          Effect.provideContext(platform)
        )

      const owners = yield* open(path.join(data, "library"))
      // A gateway that is slow or down must not keep the page from coming up.
      yield* Effect.timeoutOption(owners.library, PATIENCE).pipe(
        Effect.catchIf(
          ({ reason }) => isMendable(reason),
          (error) => Effect.logWarning(messageOf(error))
        ),
        Effect.mapError(libraryError(data))
      )

      const shelves = new Map([[OWNER, owners]])
      const oneAtATime = yield* Semaphore.make(1)
      const shelfOf = (user: string) =>
        Effect.suspend(() => {
          const known = shelves.get(user)
          if (known !== undefined) return Effect.succeed(known)
          return Effect.tap(open(path.join(data, "libraries", encodeURIComponent(user))), (shelf) =>
            Effect.sync(() => shelves.set(user, shelf))
          )
        })
      return {
        // Of two that ask at once the second finds what the first made.
        of: (user) => oneAtATime.withPermit(shelfOf(user)),
        fill: samples ? owners.fill(path.join(data, "samples-read")) : Effect.void,
        questions: samples
          ? yield* readQuestions(SAMPLES).pipe(
              Effect.catch((error) =>
                Effect.as(Effect.logWarning(`No starter questions: ${error.message}`), [])
              )
            )
          : []
      }
    })
  )
}
