/** `sluice rebuild`: rebuilds the collections of all users that another version or another embedding model made. */
import { Library, type RagError } from "@sluice/rag"
import { Effect, Stream } from "effect"
import { Command } from "effect/cli"
import { ServerConfig } from "../../config/ServerConfig.ts"
import { isServed } from "../../database/Database.ts"
import { storeOptions } from "../../config/DocumentStore.ts"
import { libraryFolders } from "../../libraries/LibraryFolders.ts"
import { reasonCode } from "../../libraries/RagFailure.ts"
import { dataFlag, jsonFlag } from "../library/Flags.ts"
import { plural } from "../library/IngestFolder.ts"
import { modelsLayer } from "../library/OpenLibrary.ts"
import { note, printResult, progressBar, noteOnInterrupt, setExitCode } from "../output/Output.ts"

/** Calls of models are not billed to users. A collection that fails is reported, and stays as it is. */
export const rebuildAll = Effect.fn("cli.rebuild")(function* () {
  const settings = yield* ServerConfig
  const { reading } = settings
  const store = storeOptions(settings)
  const showProgress = yield* progressBar("Rebuilding")
  const done = { outdated: 0, rebuilt: 0, documents: 0 }
  const failed: Array<Readonly<Record<"user" | "collection" | "reason" | "message", string>>> = []
  const reportFailure = (user: string, collection: string, { message, reason }: RagError) => {
    failed.push({ user, collection, reason: reasonCode(reason), message })
    return note(`not rebuilt: collection "${collection}" of ${user}: ${message}`)
  }
  for (const { folder, user } of yield* libraryFolders) {
    const names = yield* Library.outdated(folder, store).pipe(
      Effect.catch((error) => Effect.as(reportFailure(user, "", error), []))
    )
    done.outdated += names.length
    for (const collection of names)
      yield* Library.rebuild(folder, { ...store, collection, ...reading }).pipe(
        Stream.runForEach(({ type }) =>
          type === "document"
            ? showProgress(++done.documents, undefined, plural(done.rebuilt, "collection"))
            : Effect.void
        ),
        Effect.andThen(Effect.sync(() => done.rebuilt++)),
        Effect.catch((error) => reportFailure(user, collection, error))
      )
  }
  return { ...done, failed }
})

export const rebuildCommand = Command.make("rebuild", { data: dataFlag, json: jsonFlag }, ({ data, json }) =>
  Effect.gen(function* () {
    const { data } = yield* ServerConfig
    if (yield* isServed(data))
      yield* note(`A server is using the data folder ${data}. Its libraries are rebuilt while it runs.`)
    const result = yield* rebuildAll().pipe(
      noteOnInterrupt("Collections that are rebuilt stay; the others are as before. Run it again to continue")
    )
    const { documents, failed, outdated, rebuilt } = result
    yield* printResult(json, result, () =>
      outdated === 0
        ? "No collection is outdated."
        : `${rebuilt} of ${plural(outdated, "collection")} rebuilt; ${plural(documents, "document")}`
    )
    if (failed.length > 0) yield* setExitCode
  }).pipe(Effect.scoped, Effect.provide(modelsLayer(data)))
).pipe(
  Command.withDescription(
    "Rebuild the collections of all users that another version or another embedding model made. The server may run"
  )
)
