/** `memoryOfSize.ts PASSAGES FOLDER`: ingests `FOLDER/docs`, runs queries, and prints its peak resident memory. */
import * as Embedded from "@sluice/embedded"
import { Library } from "@sluice/rag"
import { Effect } from "effect"
import { join } from "node:path"
import { corpus, documentsFor } from "./corpus/CorpusFolder.ts"

const [size = "1000", folder = ""] = process.argv.slice(2)
const documents = documentsFor(Number(size))

const passages = await Effect.gen(function* () {
  const library = yield* Library.open(join(folder, "library"))
  const report = yield* library.ingest(join(folder, "docs"))
  for (let at = 0; at < 20; at++) yield* library.retrieve(corpus.question(at % documents))
  return report.passages
}).pipe(Effect.scoped, Effect.provide(Embedded.layer), Effect.runPromise)

// maxRSS is in kilobytes.
console.log(JSON.stringify({ passages, peakMegabytes: process.resourceUsage().maxRSS / 1024 }))
