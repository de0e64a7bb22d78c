/** Ingests a folder into the library, with a progress bar. */
import type { IngestReport, LibraryService } from "@sluice/rag"
import { Effect, Option, Stream } from "effect"
import { ServerConfig } from "../../config/ServerConfig.ts"
import { StartError } from "../../config/StartError.ts"
import { isServed } from "../../database/Database.ts"
import { note, progressBar, saysWhatIsKept } from "../output/Output.ts"

/** Documents of a running server belong to its users: they are added there. */
export const rejectServed = Effect.gen(function* () {
  const { data } = yield* ServerConfig
  if (!(yield* isServed(data))) return
  return yield* new StartError({
    message: `A server is using the data folder ${data}, so nothing was written. Upload the documents to that server, stop it first, or use a library of your own with --data FOLDER`
  })
})

/** Prints a file or page that could not be read to standard error. */
export const noteFailures = (failed: IngestReport["failed"]) =>
  Effect.forEach(failed, ({ error, path }) => note(`not read: ${withPath(path, error.message)}`), {
    discard: true
  })

/** The message, which names the file once. */
export const withPath = (path: string, message: string): string =>
  message.startsWith(path) ? message : `${path}: ${message}`

/** Prints every page that could not be read to standard error. Fails if a server uses the library. */
export const ingestFolder = Effect.fn("cli.ingestFolder")(function* (
  library: LibraryService,
  folder: string
) {
  yield* rejectServed
  const progress = yield* progressBar("Ingesting")
  let files: number | undefined
  let processed = 0
  let written = 0
  let report: IngestReport | undefined
  const faults: Array<string> = []
  yield* library.ingestEvents(folder).pipe(
    Stream.runForEach((event) => {
      if (event.type === "found") files = event.files
      if (event.type === "document") processed += 1
      if (event.type === "committed") written += event.passages
      if (event.type === "done") report = event.report
      if (event.type === "document" && (event.status === "added" || event.status === "replaced"))
        for (const { message, page } of event.faults ?? [])
          faults.push(`partly read: ${event.path}${page === undefined ? "" : `, page ${page}`}: ${message}`)
      return progress(processed, files, plural(written, "passage"))
    }),
    saysWhatIsKept("Documents that are written stay, and can be asked. Run it again to continue")
  )
  for (const fault of faults) yield* note(fault)
  return report ?? (yield* Effect.die(new Error("the ingest ended without a report")))
}, Effect.scoped)

/** `1 passage`, `2 passages`. */
export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`

/** One line: how many documents were added, replaced, removed, and could not be read. */
export const ingestSummary = (report: IngestReport): string => {
  const counts = (["added", "replaced", "unchanged", "removed"] as const).flatMap((name) =>
    report[name] > 0 ? [`${report[name]} ${name}`] : []
  )
  if (report.faulty > 0) counts.push(`${report.faulty} partly read`)
  if (report.failed.length > 0) counts.push(`${report.failed.length} not read`)
  const documents = counts.length === 0 ? "no documents" : `documents: ${counts.join(", ")}`
  return `${documents}; ${plural(report.passages, "passage")} written`
}

/** Ingests the folder of `--docs` and prints what changed. Files that cannot be read are named only then. */
export const ingestDocs = Effect.fn("cli.ingestDocs")(function* (
  library: LibraryService,
  docs: Option.Option<string>
) {
  if (Option.isNone(docs)) return
  const report = yield* ingestFolder(library, docs.value)
  const { added, failed, removed, replaced } = report
  if (added + replaced + removed > 0) {
    yield* noteFailures(failed)
    yield* note(ingestSummary(report))
  } else if (failed.length > 0) {
    yield* note(`${plural(failed.length, "file")} not read. See: sluice ingest ${docs.value} --plan`)
  }
})
