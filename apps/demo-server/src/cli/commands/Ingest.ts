/** `sluice ingest FOLDER`: brings the library up to date with a folder. */
import type { IngestPlan, IngestReport, LibraryService } from "@sluice/rag"
import { Effect, Option, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { modelsFrom } from "../../providers/Models.ts"
import { Prices } from "../../billing/Prices.ts"
import { withLibrary } from "../library/OpenLibrary.ts"
import { failed, json, note, print } from "../output/Output.ts"
import * as Progress from "../output/Progress.ts"
import * as Settings from "../library/Settings.ts"

/** A plan for people names so many changes. */
const NAMED_CHANGES = 50

/** Ingests with a progress bar, and names the files that could not be read. */
const ingestFolder = Effect.fn("cli.ingestFolder")(function* (library: LibraryService, folder: string) {
  const progress = yield* Progress.make("Ingesting")
  let files: number | undefined
  let looked = 0
  let written = 0
  let report: IngestReport | undefined
  const faults: Array<string> = []
  yield* library.ingestEvents(folder).pipe(
    Stream.runForEach((event) => {
      if (event.type === "found") files = event.files
      if (event.type === "document") looked += 1
      if (event.type === "committed") written += event.passages
      if (event.type === "done") report = event.report
      if (event.type === "document" && (event.status === "added" || event.status === "replaced"))
        for (const { message, page } of event.faults ?? [])
          faults.push(`not all read: ${event.path}${page === undefined ? "" : `, page ${page}`}: ${message}`)
      return progress.update(looked, files, counted(written, "passage"))
    })
  )
  for (const fault of faults) yield* note(fault)
  for (const { error, path } of report?.failed ?? [])
    yield* note(`not read: ${error.message.startsWith(path) ? error.message : `${path}: ${error.message}`}`)
  return report ?? (yield* Effect.die(new Error("the ingest ended without its report")))
}, Effect.scoped)

/** `1 passage`, `2 passages`. */
const counted = (amount: number, what: string): string => `${amount} ${what}${amount === 1 ? "" : "s"}`

/** One line that says what an ingest did. */
const summary = (report: IngestReport): string => {
  const counts = (["added", "replaced", "unchanged", "removed"] as const).flatMap((name) =>
    report[name] > 0 ? [`${report[name]} ${name}`] : []
  )
  if (report.faulty > 0) counts.push(`${report.faulty} not all read`)
  if (report.failed.length > 0) counts.push(`${report.failed.length} not read`)
  const documents = counts.length === 0 ? "no documents" : `documents: ${counts.join(", ")}`
  return `${documents}; ${counted(report.passages, "passage")} written`
}

/** `--docs`, for commands that ask the library something. */
export const docsFlag = Flag.Path("docs", { mustExist: true }).pipe(
  Flag.withDescription("Bring the library up to date with this folder first"),
  Flag.optional
)

/** Does so, and says what has changed. */
export const bringUpToDate = Effect.fn("cli.bringUpToDate")(function* (
  library: LibraryService,
  docs: Option.Option<string>
) {
  if (Option.isNone(docs)) return
  const report = yield* ingestFolder(library, docs.value)
  const { added, failed, removed, replaced } = report
  if (added + replaced + removed + failed.length > 0) yield* note(summary(report))
})

/** What an ingest would do, in lines for people; the first changes by name. */
const planned = (plan: IngestPlan): string => {
  const counts = (["added", "replaced", "unchanged", "removed"] as const).map(
    (name) => `${plan[name]} ${name}`
  )
  const named = plan.changes.slice(0, NAMED_CHANGES)
  const more = plan.changes.length - named.length
  const cost =
    plan.cost === undefined
      ? ""
      : `; about ${counted(plan.cost.estimated, "quota unit")}, at most ${plan.cost.atMost}`
  return [
    ...named.map(
      ({ change, passages, path }) => `${change.padEnd(9)} ${path} (${counted(passages, "passage")})`
    ),
    ...(more > 0 ? [`and ${more} more`] : []),
    ...plan.failed.map(({ message, path }) => `not read  ${path}: ${message}`),
    `documents: ${counts.join(", ")}`,
    `${counted(plan.passages, "passage")} to write; ${plan.texts} to embed (${plan.cached} known) in ${counted(plan.calls, "call")}`,
    `about ${counted(plan.tokens.estimated, "token")}, at most ${plan.tokens.atMost}${cost}`,
    "Nothing was done. Without --plan it is."
  ].join("\n")
}

/** What it would cost by the prices of this server; models of the process cost nothing here. */
const planFor = Effect.fn("cli.plan")(function* (library: LibraryService, folder: string) {
  const { embeddingModel } = yield* library.stats
  const from = yield* modelsFrom
  const { inputPer1000Tokens } = (yield* Prices).of("embeddings", embeddingModel)
  const priced = from !== undefined && inputPer1000Tokens !== undefined
  return yield* library.plan(folder, priced ? { per1000Tokens: inputPer1000Tokens } : {})
}, Effect.provide(Prices.layer))

export const ingest = Command.make(
  "ingest",
  {
    folder: Argument.Path("folder", { mustExist: true }).pipe(
      Argument.withDescription("Folder, or one file: PDF, Word, Markdown, HTML, text and images")
    ),
    data: Settings.data,
    plan: Flag.Boolean("plan").pipe(
      Flag.withDescription("Only say what would be done and what it would cost"),
      Flag.withDefault(false)
    ),
    json
  },
  ({ data, folder, json, plan }) =>
    withLibrary(data, (library) =>
      plan
        ? Effect.flatMap(planFor(library, folder), (plan) => print(json, plan, () => planned(plan)))
        : Effect.gen(function* () {
            const report = yield* ingestFolder(library, folder)
            const notRead = report.failed.map(({ error, path }) => ({
              path,
              reason: error.reason,
              message: error.message
            }))
            yield* print(json, { ...report, failed: notRead }, () => summary(report))
            if (notRead.length > 0) yield* failed
          })
    )
).pipe(
  Command.withDescription(
    "Bring the library up to date with a folder. Unchanged files cost nothing; changed ones are replaced, deleted ones " +
      "removed; files that cannot be read are named, the rest is ingested, and the exit code is 1."
  ),
  Command.withExamples([
    { command: "sluice ingest ./docs", description: "Add or update the documents of ./docs" },
    { command: "sluice ingest ./docs --plan", description: "What that would do and cost; nothing is done" }
  ])
)
