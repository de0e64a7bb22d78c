/** A million passages with 384 dimensions, written without parsing and queried through the library. */
import { Embedder } from "@sluice/core"
import * as Embedded from "@sluice/embedded"
import { Library } from "@sluice/rag"
import { documentId, FORMAT, type IndexedDocument, LanceIndex, PassageIndex } from "@sluice/rag/store"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { CHUNKER } from "../packages/rag/src/chunking/Chunker.ts"
import { embeddedText, searchText } from "../packages/rag/src/document/SearchText.ts"
import { type Bench, type Figures, percentile, rounded, say } from "./Bench.ts"
import { corpus, withFolder } from "./corpus/CorpusFolder.ts"
import { exactly } from "./corpus/ExactRecall.ts"
import { DIMENSION, vectorOf } from "./corpus/HashedVectors.ts"

const PASSAGE_CHARACTERS = 1000
const COMMIT_PASSAGES = 20_000
/** Questions that are also answered by exact search, while the collection is filled. */
const COMPARED = 50
const WARMUP = 200
const QUESTIONS = 300

const manifest = {
  format: FORMAT,
  embeddingModel: "hashed-384",
  dimension: DIMENSION,
  chunker: CHUNKER
}

const hashed = Layer.succeed(
  Embedder,
  Embedder.of({
    model: { id: manifest.embeddingModel, kind: "lexical", free: true },
    dimension: Effect.succeed(DIMENSION),
    embed: (texts) => Effect.sync(() => ({ vectors: texts.map(vectorOf), tokens: 0 }))
  })
)

const documentOf = (index: number): IndexedDocument => {
  const { path, text } = corpus.document(index)
  const title = text.slice(2, text.indexOf("\n"))
  const count = Math.ceil(text.length / PASSAGE_CHARACTERS)
  return {
    info: {
      id: documentId(path),
      path,
      title,
      format: "markdown",
      bytes: text.length,
      sha256: documentId(`${path} `).padEnd(64, "0"),
      passages: count
    },
    source: "",
    original: new Uint8Array(),
    attachments: new Map(),
    replaces: undefined,
    passages: Array.from({ length: count }, (_, ordinal) => {
      const start = ordinal * PASSAGE_CHARACTERS
      const slice = text.slice(start, start + PASSAGE_CHARACTERS)
      const passage = { ordinal, start, end: start + slice.length, text: slice, headings: [], lines: [] }
      const embedded = embeddedText(title, passage)
      return { passage, hash: "0".repeat(64), vector: vectorOf(embedded), search: searchText(embedded) }
    })
  }
}

const fill = Effect.fn("bench.fill")(function* (folder: string, passages: number) {
  const store = yield* Layer.build(LanceIndex.layer(folder))
  const collection = yield* Effect.flatMap(PassageIndex, (index) => index.open("default", manifest)).pipe(
    Effect.provideContext(store)
  )
  const exact = exactly(Array.from({ length: COMPARED }, (_, i) => vectorOf(corpus.question(i))))
  let written = 0
  let waiting: Array<IndexedDocument> = []
  let size = 0
  for (let index = 0; written < passages; index++) {
    const document = documentOf(index)
    waiting.push(document)
    size += document.passages.length
    if (size < COMMIT_PASSAGES && written + size < passages) continue
    yield* collection.commit(waiting)
    exact.consider(
      waiting.flatMap(({ info, passages }) =>
        passages.map(({ passage, vector }) => ({ id: `${info.id}#${passage.ordinal}`, vector: vector! }))
      )
    )
    written += size
    size = 0
    waiting = []
    say(`  ${written} passages`)
  }
  const start = performance.now()
  yield* collection.settle
  const settled = performance.now() - start
  return { written, settled, recall: yield* exact.recall(collection) }
}, Effect.scoped)

const atSize = (passages: number) =>
  withFolder(async (folder): Promise<Figures> => {
    const library = join(folder, "library")
    const measured = await Effect.gen(function* () {
      const filled = yield* fill(library, passages)
      const opened = yield* Library.open(library)
      const run = yield* Effect.context<never>()
      const samples: Array<number> = []
      for (let at = 0; at < WARMUP + QUESTIONS; at++) {
        const start = performance.now()
        yield* Effect.promise(() =>
          Effect.runPromiseWith(run)(opened.retrieve(corpus.question(at % Math.ceil(passages / 20))))
        )
        samples.push(performance.now() - start)
      }
      return { ...filled, samples: samples.slice(WARMUP) }
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(Embedded.layer, hashed)), Effect.runPromise)
    const size = passages.toLocaleString("en")
    return {
      [`${size} passages, 384 dimensions: question to 3 passages, in process, p50 (ms)`]: rounded(
        percentile(measured.samples, 0.5)
      ),
      [`${size} passages, 384 dimensions: question to 3 passages, in process, p95 (ms)`]: rounded(
        percentile(measured.samples, 0.95)
      ),
      [`${size} passages, 384 dimensions: recall@20 of exact search (share)`]: rounded(measured.recall, 4),
      [`${size} passages, 384 dimensions: index build (s)`]: rounded(measured.settled / 1000)
    }
  })

export const bench: Bench = ({ quick }) => atSize(quick ? 20_000 : 1_000_000)
