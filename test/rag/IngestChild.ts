/** `IngestChild.ts ingest DOCS LIBRARY [drop]`: an ingest that may be killed, or that runs without rights. */
import { Library } from "@sluice/rag"
import { Effect, Stream } from "effect"
import { modelsLayer } from "./Models.ts"

const [, docs = "", library = "", drop] = process.argv.slice(2)
// nobody: root may read everything, so the rights of files only show without it
if (drop === "drop" && process.getuid?.() === 0) {
  process.setgid?.(65534)
  process.setuid?.(65534)
}

const print = (line: string) => Effect.sync(() => process.stdout.write(`${line}\n`))

await Effect.gen(function* () {
  const opened = yield* Library.open(library)
  yield* Stream.runForEach(opened.ingestEvents(docs), (event) => {
    if (event.type === "committed") return print("committed")
    if (event.type !== "done") return Effect.void
    const failed = event.report.failed.map(({ error, path }) => ({ path, reason: error.reason }))
    return Effect.andThen(print("done"), print(JSON.stringify({ added: event.report.added, failed })))
  })
}).pipe(
  Effect.catch((error) => print(`${error.reason}: ${error.message}`)),
  Effect.scoped,
  Effect.provide(modelsLayer),
  Effect.runPromise
)
