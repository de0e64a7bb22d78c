/**
 * `IngestChild.ts ingest DOCS LIBRARY [drop | kill]`: an ingest without rights, or killed amid its second commit.
 * `IngestChild.ts rebuild DOCUMENTS LIBRARY`: a rebuild that is killed after so many documents.
 */
import { Library } from "@sluice/rag"
import { Effect, Stream } from "effect"
import { watch } from "node:fs"
import { modelsLayer } from "./Models.ts"

const [what, docs = "", library = "", how] = process.argv.slice(2)
// nobody: root may read everything, so the rights of files only show without it
if (how === "drop" && process.getuid?.() === 0) {
  process.setgid?.(65534)
  process.setuid?.(65534)
}

const print = (line: string) => Effect.sync(() => process.stdout.write(`${line}\n`))

await Effect.gen(function* () {
  const opened = yield* Library.open(library)
  if (what === "rebuild") {
    let rebuilt = 0
    return yield* Stream.runForEach(opened.rebuild, ({ type }) =>
      Effect.sync(() => {
        if (type === "document" && ++rebuilt >= Number(docs)) process.kill(process.pid, "SIGKILL")
      })
    )
  }
  yield* Stream.runForEach(opened.ingestEvents(docs), (event) => {
    if (event.type === "committed" && how === "kill") {
      // What is written after the first commit is of the second.
      watch(library, { recursive: true }, () => process.kill(process.pid, "SIGKILL"))
    }
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
