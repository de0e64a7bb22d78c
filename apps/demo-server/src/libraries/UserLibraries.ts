/** One library per user: the owner's in the folder `library`, the others' in folders of their own. */
import type { Failure } from "@sluice/core/contract"
import { RagError, type RagReason } from "@sluice/rag"
import { Cache, Context, Effect, Exit, type FileSystem, Layer, Path, Ref, Scope, Semaphore } from "effect"
import { OWNER } from "../accounts/Owner.ts"
import { ServerConfig } from "../config/ServerConfig.ts"
import { libraryError } from "../config/StartError.ts"
import { CurrentModels, type LibraryModels, replacedLife } from "../providers/CurrentModels.ts"
import { areListed } from "../providers/UnlistedModels.ts"
import { Members } from "../sharing/Members.ts"
import { makeBilledModels } from "./BilledModels.ts"
import { storeOptions } from "../config/DocumentStore.ts"
import { CommitLock, makeCommitLock } from "./CommitLock.ts"
import { libraryOf } from "./LibraryFolders.ts"
import type { CollectionHooks } from "./OpenCollections.ts"
import { messageOf } from "./RagFailure.ts"
import { readQuestions, SAMPLES } from "./Samples.ts"
import { makeStoredToday } from "./StoredToday.ts"
import { makeUserLibrary, type UserLibrary } from "./UserLibrary.ts"

/** How long the start waits for the owner's library. With embedded models it opens at once. */
const START_TIMEOUT = "2 seconds"

/** Failures that stop only the owner's collection: of its model, of the gateway, of a damaged row. */
const RECOVERABLE: ReadonlySet<RagReason> = new Set(["ManifestMismatch", "Model", "Store", "Damaged"])

const accountsUnavailable = (cause: Failure) =>
  new RagError({ stage: "open", reason: "Store", message: cause.message, cause })

const makeHooks = Effect.gen(function* () {
  const members = yield* Members
  const storedToday = yield* makeStoredToday
  return (user: string): CollectionHooks => ({
    // Members of a removed collection must not become members of a new one with its name.
    beforeCreation: (name) => Effect.mapError(members.clear(user, name), accountsUnavailable),
    countStored: (bytes) => storedToday.add(user, bytes)
  })
})

/** The libraries of all users with the same models. */
interface Opened {
  readonly from: LibraryModels
  readonly libraries: Cache.Cache<string, UserLibrary>
  isClosed: boolean
  readonly close: Effect.Effect<void>
}

/**
 * The libraries of all users.
 *
 * **Details.** The owner's library opens at the start; an error that is not recoverable fails the start. Another user's
 * library opens at that user's first request, starts empty, and stays open.
 */
export class UserLibraries extends Context.Service<UserLibraries>()("@sluice/demo-server/UserLibraries", {
  make: Effect.gen(function* () {
    const settings = yield* ServerConfig
    const { data, reading, documents, samples } = settings
    const path = yield* Path.Path
    const scope = yield* Effect.scope
    const platform = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
    const current = yield* CurrentModels
    const bill = yield* makeBilledModels
    const hooksOf = yield* makeHooks
    const oneAtATime = yield* Semaphore.make(1)
    const commitLock = yield* makeCommitLock

    /** The libraries of all users, opened with the current models. */
    const openAll = Effect.fnUntraced(function* (before: Opened | undefined) {
      const from = yield* Ref.get(current)
      const opened = yield* Scope.fork(scope)
      const models = bill(from)
      const libraries = yield* Cache.make({
        capacity: Infinity,
        // Others may wait for the same library: it must not fail when the first caller is interrupted.
        lookup: (user: string) =>
          makeUserLibrary(
            libraryOf(settings, user),
            reading,
            Effect.suspend(() =>
              before === undefined || before.isClosed
                ? Effect.succeed(undefined)
                : Cache.get(before.libraries, user)
            ),
            hooksOf(user),
            storeOptions(settings)
          ).pipe(
            Scope.provide(opened),
            Effect.provideContext(models),
            Effect.provideContext(platform),
            Effect.provideService(CommitLock, commitLock),
            Effect.uninterruptible
          )
      })
      const all: Opened = {
        from,
        libraries,
        isClosed: false,
        close: Effect.suspend(() => {
          all.isClosed = true
          return Scope.close(opened, Exit.void)
        })
      }
      return all
    })
    const state = yield* Ref.make(yield* openAll(undefined))

    /** Opens the libraries again if the models have been replaced. What needs the old ones keeps them for a while. */
    const opened = Effect.gen(function* () {
      const now = yield* Ref.get(state)
      if (now.from === (yield* Ref.get(current))) return now.libraries
      const next = yield* openAll(areListed(now.from.context) ? now : undefined)
      yield* Ref.set(state, next)
      yield* Effect.forkIn(Effect.delay(now.close, replacedLife(now.from, next.from)), scope)
      return next.libraries
    }).pipe(oneAtATime.withPermit)
    const of = (user: string) => Effect.flatMap(opened, (libraries) => Cache.get(libraries, user))

    const owner = yield* of(OWNER)
    // A slow or unreachable gateway must not keep the page from starting.
    yield* Effect.timeoutOption(owner.library, START_TIMEOUT).pipe(
      Effect.catchIf(
        ({ reason }) => RECOVERABLE.has(reason),
        (error) => Effect.logWarning(messageOf(error))
      ),
      Effect.mapError(libraryError(documents))
    )

    /** The collections that are open at this server. */
    const openCollections = Effect.gen(function* () {
      const found: Array<{ readonly user: string; readonly collection: string }> = []
      for (const [user, library] of yield* Cache.entries(yield* opened))
        for (const collection of yield* library.openNames) found.push({ user, collection })
      return found
    })

    return {
      of,
      openCollections,
      /** Adds the samples to the owner's library, unless `SLUICE_SAMPLES` is false. */
      fill: samples ? owner.fill(path.join(data, "samples-read")) : Effect.void,
      /** Questions that the samples answer. */
      questions: samples
        ? yield* readQuestions(SAMPLES).pipe(
            Effect.catch((error) =>
              Effect.as(Effect.logWarning(`No starter questions: ${error.message}`), [])
            )
          )
        : []
    }
  })
}) {
  static readonly layer = Layer.effect(UserLibraries, UserLibraries.make)
}
