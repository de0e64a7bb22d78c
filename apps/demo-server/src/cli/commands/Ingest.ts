/** `sluice ingest FOLDER`: updates the library from a folder. */
import type { IngestPlan } from "@sluice/rag"
import { Argument, Command } from "effect/cli"
import { costAndTime } from "../../contract/index.ts"
import { planOptions } from "../library/EmbeddingPrice.ts"
import { booleanFlag, examples, libraryFlags } from "../library/Flags.ts"
import { ingestFolder, plural, printReport, withPath } from "../library/IngestFolder.ts"
import { withLibrary } from "../library/OpenLibrary.ts"
import { printResult } from "../output/Output.ts"

/** The text of a plan lists at most this many changes; JSON lists all. */
const MAX_CHANGES = 50

const renderPlan = (plan: IngestPlan, free: boolean): string => {
  const counts = (["added", "replaced", "unchanged", "removed"] as const).map(
    (name) => `${plan[name]} ${name}`
  )
  const changes = plan.changes.slice(0, MAX_CHANGES)
  const more = plan.changes.length - changes.length
  return [
    ...changes.map(
      ({ change, passages, path }) => `${change.padEnd(9)} ${path} (${plural(passages, "passage")})`
    ),
    ...(more > 0 ? [`and ${more} more`] : []),
    ...plan.failed.map(({ message, path }) => `not read  ${withPath(path, message)}`),
    `documents: ${counts.join(", ")}`,
    `${plural(plan.passages, "passage")} to write; ${plan.texts} to embed (${plan.cached} cached) in ${plural(plan.calls, "call")}`,
    `about ${plural(plan.tokens.estimated, "token")}, at most ${plan.tokens.atMost}; ${costAndTime({ ...plan, free })}`,
    "Dry run; nothing changed. Run it without --plan to apply."
  ].join("\n")
}

export const ingestCommand = Command.make(
  "ingest",
  {
    folder: Argument.Path("folder", { mustExist: true }).pipe(
      Argument.withDescription("A folder or one file of a supported format")
    ),
    ...libraryFlags,
    plan: booleanFlag(
      "plan",
      "Dry run: print what would change, what it would cost, and how long it would take"
    )
  },
  ({ collection, data, folder, json, plan }) =>
    withLibrary({ collection, data, missing: plan ? "temporary" : "create" }, function* (library) {
      if (plan) {
        const { free, options } = yield* planOptions
        const planned = yield* library.plan(folder, options)
        return yield* printResult(json, planned, () => renderPlan(planned, free))
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
