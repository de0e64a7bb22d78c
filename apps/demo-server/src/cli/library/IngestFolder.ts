/** Ingests into the library, with a progress bar, and prints the report. */
import type { IngestEvent, IngestReport, LibraryService } from "@sluice/rag"
import { Effect, Option, Stream } from "effect"
import { ServerConfig } from "../../config/ServerConfig.ts"
import { StartError } from "../../config/StartError.ts"
import { isServed } from "../../database/Database.ts"
import { note, printResult, progressBar, noteOnInterrupt, setExitCode } from "../output/Output.ts"

/** Documents of a running server belong to its users: they are added there. */
export const rejectServed = Effect.gen(function* () {
  const { data } = yield* ServerConfig
  if (!(yield* isServed(data))) return
  return yield* new StartError({
    message: `A server is using the data folder ${data}, so nothing was written. Upload the documents to that server, stop it first, or use a library of your own with --data FOLDER`
  })
})

/** Prints a file or page that could not be read to standard error. */
const noteFailures = (failed: IngestReport["failed"]) =>
  Effect.forEach(failed, ({ error, path }) => note(`not read: ${withPath(path, error.message)}`), {
    discard: true
  })

/** The message, which names the file once. */
export const withPath = (path: string, message: string): string =>
  message.startsWith(path) ? message : `${path}: ${message}`

/** Shows the events, prints every page that could not be read to standard error, and returns the report. */
export const followIngest = Effect.fnUntraced(function* <E, R>(
  label: string,
  events: Stream.Stream<IngestEvent, E, R>
) {
  const progress = yield* progressBar(label)
  let files: number | undefined
  let processed = 0
  let written = 0
  let report: IngestReport | undefined
  const faults: Array<string> = []
  yield* Stream.runForEach(events, (event) => {
    if (event.type === "found") files = event.files
    if (event.type === "document") processed += 1
    if (event.type === "committed") written += event.passages
    if (event.type === "done") report = event.report
    if (event.type === "document" && (event.status === "added" || event.status === "replaced"))
      for (const { message, page } of event.faults ?? [])
        faults.push(`partly read: ${event.path}${page === undefined ? "" : `, page ${page}`}: ${message}`)
    const scan = event.type === "pages" ? `; ${event.path}: page ${event.done} of ${event.pages}` : ""
    return progress(processed, files, `${plural(written, "passage")}${scan}`)
  })
  for (const fault of faults) yield* note(fault)
  return report ?? (yield* Effect.die(new Error("the ingest ended without a report")))
}, Effect.scoped)

/** Fails if a server uses the library. */
export const ingestFolder = Effect.fn("cli.ingestFolder")(function* (
  library: LibraryService,
  folder: string
) {
  yield* rejectServed
  return yield* followIngest("Ingesting", library.ingestEvents(folder)).pipe(
    noteOnInterrupt("Documents that are written stay, and can be asked. Run it again to continue")
  )
})

/** Prints the report of a command. Files that could not be read are named, and the exit code is then 1. */
export const printReport = Effect.fnUntraced(function* (json: boolean, report: IngestReport, name?: string) {
  yield* noteFailures(report.failed)
  const failed = report.failed.map(({ error: { message, reason }, path }) => ({ path, reason, message }))
  const result = { ...(name !== undefined && { name }), ...report, failed }
  const text = ingestSummary(report)
  yield* printResult(json, result, () => (name === undefined ? text : `${name}: ${text}`))
  if (failed.length > 0) yield* setExitCode
})

/** `1 passage`, `2 passages`. */
export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`

/** One line: how many documents were added, replaced, removed, and could not be read. */
const ingestSummary = (report: IngestReport): string => {
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
