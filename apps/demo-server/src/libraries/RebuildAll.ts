/** Rebuilds the collections of all users that another version or another embedding model made. The operator pays. */
import { Embedder, Vision } from "@sluice/core"
import { Library, type RagError } from "@sluice/rag"
import { Context, Effect, FileSystem, Layer, Path, Ref, Stream } from "effect"
import { ServerConfig } from "../config/ServerConfig.ts"
import type { RebuildProgress } from "../contract/Status.ts"
import { libraryFolders } from "./LibraryFolders.ts"
import { reasonCode } from "./RagFailure.ts"

const IDLE: RebuildProgress = { running: false, outdated: 0, rebuilt: 0, documents: 0, failed: [] }

/** Calls of models are not billed to users. A collection that fails is reported, and stays as it is. */
export const rebuildAll = Effect.fn("rebuildAll")(function* (
  onProgress: (progress: RebuildProgress) => Effect.Effect<void>
) {
  const { describeFigures } = yield* ServerConfig
  let progress: RebuildProgress = { ...IDLE, running: true }
  const report = (change: Partial<RebuildProgress>) =>
    Effect.suspend(() => onProgress((progress = { ...progress, ...change })))
  const reportFailure = (user: string, collection: string, { message, reason }: RagError) =>
    report({ failed: [...progress.failed, { user, collection, reason: reasonCode(reason), message }] })

  const outdated = yield* Effect.forEach(yield* libraryFolders, ({ folder, user }) =>
    Library.outdated(folder).pipe(
      Effect.map((names) => names.map((collection) => ({ folder, user, collection }))),
      Effect.catch((error) => Effect.as(reportFailure(user, "", error), []))
    )
  )
  yield* report({ outdated: outdated.flat().length })
  for (const { collection, folder, user } of outdated.flat())
    yield* Library.rebuild(folder, { collection, describeFigures }).pipe(
      Stream.runForEach(({ type }) =>
        type === "document" ? report({ documents: progress.documents + 1 }) : Effect.void
      ),
      Effect.andThen(Effect.suspend(() => report({ rebuilt: progress.rebuilt + 1 }))),
      Effect.catch((error) => reportFailure(user, collection, error))
    )
  yield* report({ running: false })
  return progress
})

/** At most one such rebuild at a time, in the background. */
export class RebuildAll extends Context.Service<RebuildAll>()("@sluice/demo-server/RebuildAll", {
  make: Effect.gen(function* () {
    const scope = yield* Effect.scope
    const context = Context.pick(
      Embedder,
      Vision,
      ServerConfig,
      FileSystem.FileSystem,
      Path.Path
    )(yield* Effect.context<Embedder | ServerConfig | FileSystem.FileSystem | Path.Path>())
    /** Nothing of the request that starts it. */
    const withModels: (given: Context.Context<never>) => typeof context = () => context
    const current = yield* Ref.make(IDLE)
    const run = rebuildAll((progress) => Ref.set(current, progress)).pipe(
      Effect.ensuring(Ref.update(current, (progress) => ({ ...progress, running: false }))),
      Effect.updateContext(withModels)
    )
    const start = Effect.gen(function* () {
      if (
        (yield* Ref.getAndUpdate(current, (was) => (was.running ? was : { ...IDLE, running: true }))).running
      )
        return
      yield* Effect.forkIn(run, scope)
    })
    return { start: Effect.andThen(start, Ref.get(current)), progress: Ref.get(current) }
  })
}) {
  static readonly layer = Layer.effect(RebuildAll, RebuildAll.make)
}
