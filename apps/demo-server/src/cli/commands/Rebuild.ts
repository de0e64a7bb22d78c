/** `sluice rebuild`: rebuilds the collections of all users that another version or another embedding model made. */
import { Library, type RagError } from "@sluice/rag"
import { type RebuildPlan, sumPlans } from "@sluice/rag/store"
import { Effect, Stream } from "effect"
import { Command } from "effect/cli"
import { ServerConfig } from "../../config/ServerConfig.ts"
import { isServed } from "../../database/Database.ts"
import { storeOptions } from "../../config/DocumentStore.ts"
import { costAndTime } from "../../contract/index.ts"
import { libraryFolders } from "../../libraries/LibraryFolders.ts"
import { reasonCode } from "../../libraries/RagFailure.ts"
import { planOptions } from "../library/EmbeddingPrice.ts"
import { booleanFlag, dataFlag, jsonFlag } from "../library/Flags.ts"
import { plural } from "../library/IngestFolder.ts"
import { modelsLayer } from "../library/OpenLibrary.ts"
import { note, printResult, progressBar, noteOnInterrupt, setExitCode } from "../output/Output.ts"

const NONE_OUTDATED = "No collection is outdated."

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

/** What the rebuilds would embed, cost and take, all together. */
export const planRebuilds = Effect.fn("cli.planRebuild")(function* () {
  const store = storeOptions(yield* ServerConfig)
  const { free, options } = yield* planOptions
  const plans: Array<RebuildPlan> = []
  for (const { folder } of yield* libraryFolders)
    for (const collection of yield* Library.outdated(folder, store))
      plans.push(yield* Library.planRebuild(folder, { ...store, ...options, collection }))
  return { outdated: plans.length, ...sumPlans(plans), free }
})

const renderPlan = (plan: Effect.Success<ReturnType<typeof planRebuilds>>): string =>
  plan.outdated === 0
    ? NONE_OUTDATED
    : [
        `${plural(plan.outdated, "collection")} to rebuild; ${plural(plan.passages, "passage")} of ${plural(plan.documents, "document")}`,
        `${plural(plan.texts, "text")} to embed (${plan.cached} cached) in ${plural(plan.calls, "call")}`,
        `about ${plural(plan.tokens.estimated, "token")}, at most ${plan.tokens.atMost}; ${costAndTime(plan)}`,
        "Nothing changed. Run it without --plan to rebuild."
      ].join("\n")

const planFlag = booleanFlag("plan", "Only print what a rebuild would embed, cost and take")

const flags = { data: dataFlag, json: jsonFlag, plan: planFlag }

export const rebuildCommand = Command.make("rebuild", flags, ({ data, json, plan }) =>
  Effect.gen(function* () {
    if (plan) {
      const planned = yield* planRebuilds()
      return yield* printResult(json, planned, () => renderPlan(planned))
    }
    const { data } = yield* ServerConfig
    if (yield* isServed(data))
      yield* note(`A server is using the data folder ${data}. Its libraries are rebuilt while it runs.`)
    const result = yield* rebuildAll().pipe(
      noteOnInterrupt("Collections that are rebuilt stay; the others are as before. Run it again to continue")
    )
    const { documents, failed, outdated, rebuilt } = result
    yield* printResult(json, result, () =>
      outdated === 0
        ? NONE_OUTDATED
        : `${rebuilt} of ${plural(outdated, "collection")} rebuilt; ${plural(documents, "document")}`
    )
    if (failed.length > 0) yield* setExitCode
  }).pipe(Effect.scoped, Effect.provide(modelsLayer(data)))
).pipe(
  Command.withDescription(
    "Rebuild the collections of all users that another version or another embedding model made. The server may run"
  )
)
