/** `sluice ingest FOLDER`: updates the library from a folder. */
import type { IngestPlan, LibraryService } from "@sluice/rag"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { Prices } from "../../billing/Prices.ts"
import { modelsFrom } from "../../providers/LibraryModels.ts"
import { booleanFlag, examples, libraryFlags } from "../library/Flags.ts"
import { ingestFolder, plural, printReport, withPath } from "../library/IngestFolder.ts"
import { withLibrary } from "../library/OpenLibrary.ts"
import { printResult } from "../output/Output.ts"

/** The text of a plan lists at most this many changes; JSON lists all. */
const MAX_CHANGES = 50

const renderPlan = (plan: IngestPlan): string => {
  const counts = (["added", "replaced", "unchanged", "removed"] as const).map(
    (name) => `${plan[name]} ${name}`
  )
  const changes = plan.changes.slice(0, MAX_CHANGES)
  const more = plan.changes.length - changes.length
  const cost =
    plan.cost && `; about ${plural(plan.cost.estimated, "quota unit")}, at most ${plan.cost.atMost}`
  return [
    ...changes.map(
      ({ change, passages, path }) => `${change.padEnd(9)} ${path} (${plural(passages, "passage")})`
    ),
    ...(more > 0 ? [`and ${more} more`] : []),
    ...plan.failed.map(({ message, path }) => `not read  ${withPath(path, message)}`),
    `documents: ${counts.join(", ")}`,
    `${plural(plan.passages, "passage")} to write; ${plan.texts} to embed (${plan.cached} cached) in ${plural(plan.calls, "call")}`,
    `about ${plural(plan.tokens.estimated, "token")}, at most ${plan.tokens.atMost}${cost ?? ""}`,
    "Dry run; nothing changed. Run it without --plan to apply."
  ].join("\n")
}

/** Estimates the cost at this server's prices. Embedded models are free. */
const planIngest = Effect.fn("cli.planIngest")(function* (library: LibraryService, folder: string) {
  const { embeddingModel } = yield* library.stats
  const upstream = yield* modelsFrom
  const { inputPer1000Tokens } = (yield* Prices).of("embeddings", embeddingModel)
  const isPriced = upstream !== undefined && inputPer1000Tokens !== undefined
  return yield* library.plan(folder, isPriced ? { per1000Tokens: inputPer1000Tokens } : {})
}, Effect.provide(Prices.layer))

export const ingestCommand = Command.make(
  "ingest",
  {
    folder: Argument.Path("folder", { mustExist: true }).pipe(
      Argument.withDescription("A folder or one file of a supported format")
    ),
    ...libraryFlags,
    plan: booleanFlag("plan", "Dry run: print what would change and what it would cost")
  },
  ({ collection, data, folder, json, plan }) =>
    withLibrary({ collection, data, missing: plan ? "temporary" : "create" }, function* (library) {
      if (plan) {
        const planned = yield* planIngest(library, folder)
        return yield* printResult(json, planned, () => renderPlan(planned))
      }
      yield* printReport(json, yield* ingestFolder(library, folder))
    })
).pipe(
  Command.withDescription(
    "Update the library from a folder. Unchanged files are skipped, changed files replaced, deleted files removed. " +
      "Files that cannot be read are listed, and the exit code is then 1"
  ),
  examples({
    "sluice ingest ./docs": "Add or update the documents in ./docs",
    "sluice ingest ./docs --plan": "Print what would change and what it would cost"
  })
)
