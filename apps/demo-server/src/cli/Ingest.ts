/** `sluice ingest FOLDER`: brings the library up to date with a folder. */
import type { IngestReport, LibraryService } from "@sluice/rag"
import { Effect, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import { withLibrary } from "./OpenedLibrary.ts"
import { json, note, print } from "./Output.ts"
import * as Progress from "./Progress.ts"
import * as Settings from "./Settings.ts"

/** Ingests with a progress bar, and names the files that could not be read. */
export const ingestFolder = Effect.fn("cli.ingestFolder")(function* (
  library: LibraryService,
  folder: string
) {
  const progress = yield* Progress.make("Ingesting")
  let files: number | undefined
  let looked = 0
  let written = 0
  let report: IngestReport | undefined
  yield* library.ingestEvents(folder).pipe(
    Stream.runForEach((event) => {
      if (event.type === "found") files = event.files
      if (event.type === "document") looked += 1
      if (event.type === "committed") written += event.passages
      if (event.type === "done") report = event.report
      return progress.update(looked, files, `${written} passages`)
    })
  )
  for (const { error, path } of report?.failed ?? [])
    yield* note(`not read: ${error.message.startsWith(path) ? error.message : `${path}: ${error.message}`}`)
  return report ?? (yield* Effect.die(new Error("the ingest ended without its report")))
}, Effect.scoped)

/** One line that says what an ingest did. */
export const summary = (report: IngestReport): string => {
  const counts = (["added", "replaced", "unchanged", "removed"] as const).flatMap((name) =>
    report[name] > 0 ? [`${report[name]} ${name}`] : []
  )
  if (report.failed.length > 0) counts.push(`${report.failed.length} not read`)
  const documents = counts.length === 0 ? "no documents" : `documents: ${counts.join(", ")}`
  return `${documents}; ${report.passages} passages written`
}

export const ingest = Command.make(
  "ingest",
  {
    folder: Argument.Path("folder", { mustExist: true }).pipe(
      Argument.withDescription("Folder (or one file) of Markdown, HTML, text and PDF")
    ),
    data: Settings.data,
    json
  },
  ({ data, folder, json }) =>
    withLibrary(data, (library) =>
      Effect.flatMap(ingestFolder(library, folder), (report) => {
        const failed = report.failed.map(({ error, path }) => ({
          path,
          reason: error.reason,
          message: error.message
        }))
        return print(json, { ...report, failed }, () => summary(report))
      })
    )
).pipe(
  Command.withDescription(
    "Bring the library up to date with a folder. Unchanged files cost nothing; changed ones are replaced, deleted ones " +
      "removed; files that cannot be read are named and the rest is ingested."
  ),
  Command.withExamples([
    { command: "sluice ingest ./docs", description: "Add or update the documents of ./docs" }
  ])
)
