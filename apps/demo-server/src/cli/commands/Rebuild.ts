/** `sluice rebuild`: rebuilds the outdated collections of all users. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { rebuildAll } from "../../libraries/RebuildAll.ts"
import { dataFlag, jsonFlag } from "../library/Flags.ts"
import { plural } from "../library/IngestFolder.ts"
import { modelsLayer } from "../library/OpenLibrary.ts"
import { note, printResult, progressBar, setExitCode } from "../output/Output.ts"

export const rebuildCommand = Command.make("rebuild", { data: dataFlag, json: jsonFlag }, ({ data, json }) =>
  Effect.gen(function* () {
    const showProgress = yield* progressBar("Rebuilding")
    const { documents, failed, outdated, rebuilt } = yield* rebuildAll((progress) =>
      showProgress(progress.documents, undefined, plural(progress.rebuilt, "collection"))
    )
    for (const { collection, message, user } of failed)
      yield* note(`not rebuilt: collection "${collection}" of ${user}: ${message}`)
    yield* printResult(json, { outdated, rebuilt, documents, failed }, () =>
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
