/** How fast a folder of Markdown becomes a library: read, parse, cut, embed, store, index. */
import * as Embedded from "@sluice/embedded"
import { Library } from "@sluice/rag"
import { Effect } from "effect"
import { join } from "node:path"
import { type Bench, rounded } from "./Bench.ts"
import { documentsFor, withFolder, writeCorpus } from "./CorpusFolder.ts"

export const bench: Bench = ({ quick }) =>
  withFolder(async (folder) => {
    const docs = join(folder, "docs")
    await writeCorpus(docs, documentsFor(quick ? 1000 : 10_000))
    const timed = (library: string) =>
      Effect.gen(function* () {
        const opened = yield* Library.open(join(folder, library))
        const start = performance.now()
        const report = yield* opened.ingest(docs)
        const first = (performance.now() - start) / 1000
        const again = performance.now()
        yield* opened.ingest(docs)
        return { passages: report.passages, first, again: (performance.now() - again) / 1000 }
      }).pipe(Effect.scoped, Effect.provide(Embedded.layer), Effect.runPromise)
    const { again, first, passages } = await timed("library")
    return {
      [`ingest, Markdown, ${passages} passages (passages/s)`]: rounded(passages / first, 0),
      "ingest again, nothing changed (ms)": rounded(again * 1000, 0)
    }
  })
