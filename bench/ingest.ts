/** Times the ingest of a folder of Markdown: read, parse, chunk, embed, store, index. */
import * as Embedded from "@sluice/embedded"
import { Embedder } from "@sluice/core"
import { Library } from "@sluice/rag"
import { meteredModels } from "@sluice/rag/evaluation"
import { Effect } from "effect"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type Bench, type Figures, rounded } from "./Bench.ts"
import { corpus, documentsFor, withFolder, writeCorpus } from "./corpus/CorpusFolder.ts"

/** Ingests a folder of many small documents again without changes. */
const unchanged = async (folder: string, documents: number): Promise<Figures> => {
  const docs = join(folder, "many")
  for (let at = 0; at < documents; at++) {
    const file = join(docs, String(at % 100), `note-${at}.md`)
    if (at < 100) await mkdir(join(docs, String(at)), { recursive: true })
    const [title = "", ...text] = corpus.document(at).text.slice(0, 800).split("\n")
    await writeFile(file, [`${title} ${at}`, ...text].join("\n"))
  }
  const { calls, milliseconds } = await Effect.gen(function* () {
    const { embedder, meter } = yield* meteredModels
    const library = yield* Library.open(join(folder, "notes")).pipe(Effect.provideService(Embedder, embedder))
    yield* library.ingest(docs)
    yield* meter.take
    const start = performance.now()
    yield* library.ingest(docs)
    return { milliseconds: performance.now() - start, calls: (yield* meter.take).embeddingCalls }
  }).pipe(Effect.scoped, Effect.provide(Embedded.layer), Effect.runPromise)
  const size = documents.toLocaleString("en")
  return {
    [`ingest again, ${size} documents unchanged (ms)`]: rounded(milliseconds, 0),
    [`ingest again, ${size} documents unchanged (embedding calls)`]: calls
  }
}

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
    const many = await unchanged(folder, quick ? 1000 : 10_000)
    return {
      [`ingest, Markdown, ${passages} passages (passages/s)`]: rounded(passages / first, 0),
      "ingest again, nothing changed (ms)": rounded(again * 1000, 0),
      ...many
    }
  })
