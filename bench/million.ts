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

/** Questions under way at the same time. */
const WIDTHS = [1, 8, 32]

type OpenLibrary = Effect.Success<ReturnType<typeof Library.open>>

/** Asks `QUESTIONS` questions for each place, in so many places at once. */
const askAtWidth = Effect.fn("bench.width")(function* (
  library: OpenLibrary,
  width: number,
  documents: number
) {
  const run = yield* Effect.context<never>()
  const samples: Array<number> = []
  let asked = 0
  const place = async () => {
    while (asked < QUESTIONS * Math.max(1, width / 8)) {
      const start = performance.now()
      await Effect.runPromiseWith(run)(library.retrieve(corpus.question(asked++ % documents)))
      samples.push(performance.now() - start)
    }
  }
  const [start, cpu] = [performance.now(), process.cpuUsage()]
  yield* Effect.promise(() => Promise.all(Array.from({ length: width }, place)))
  const { system, user } = process.cpuUsage(cpu)
  return {
    perSecond: (1000 * samples.length) / (performance.now() - start),
    cpu: (user + system) / 1000 / samples.length,
    p50: percentile(samples, 0.5),
    p95: percentile(samples, 0.95),
    p99: percentile(samples, 0.99)
  }
})

/** Mean CPU time of a call, in ms. */
const cpuOf = Effect.fn("bench.cpu")(function* <E>(call: (n: number) => Effect.Effect<unknown, E>) {
  yield* call(0)
  const cpu = process.cpuUsage()
  for (let n = 1; n <= CALLS; n++) yield* call(n)
  const { system, user } = process.cpuUsage(cpu)
  return (user + system) / 1000 / CALLS
})
const CALLS = 10

const upload = (n: number) => ({
  files: [{ path: `late ${n}.md`, bytes: new TextEncoder().encode(`# Late ${n}\n\nHeron ${n} waits.`) }]
})

const atSize = (passages: number) =>
  withFolder(async (folder): Promise<Figures> => {
    const path = join(folder, "library")
    const documents = Math.ceil(passages / 20)
    const measured = await Effect.gen(function* () {
      const filled = yield* fill(path, passages)
      const start = performance.now()
      const library = yield* Library.open(path)
      // The server is ready (`/readyz`) once its library is open.
      const opened = performance.now() - start
      for (let n = 0; n < WARMUP; n++) yield* library.retrieve(corpus.question(n % documents))
      const widths = yield* Effect.forEach(WIDTHS, (width) =>
        Effect.map(askAtWidth(library, width, documents), (figures) => ({ width, ...figures }))
      )
      const uploaded = yield* cpuOf((n) => library.ingest(upload(n)))
      const unchanged = yield* cpuOf((n) => library.ingest(upload(n)))
      const stats = yield* cpuOf(() => library.stats)
      const removed = yield* cpuOf((n) => library.remove(documentId(corpus.document(n).path)))
      return { ...filled, opened, widths, uploaded, unchanged, stats, removed }
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(Embedded.layer, hashed)), Effect.runPromise)
    const size = `${passages.toLocaleString("en")} passages, 384 dimensions`
    const figures: Record<string, number> = {
      [`${size}: recall@20 of exact search (share)`]: rounded(measured.recall, 4),
      [`${size}: index build (s)`]: rounded(measured.settled / 1000),
      [`${size}: until /readyz is 200, opening the library (ms)`]: rounded(measured.opened),
      [`${size}: upload of one file, CPU (ms)`]: rounded(measured.uploaded),
      [`${size}: unchanged upload, CPU (ms)`]: rounded(measured.unchanged),
      [`${size}: stats, CPU (ms)`]: rounded(measured.stats),
      [`${size}: removal of a document, CPU (ms)`]: rounded(measured.removed)
    }
    for (const { cpu, p50, p95, p99, perSecond, width } of measured.widths) {
      const at = `${size}: question to 3 passages, in process, width ${width}`
      figures[`${at}, questions/s`] = rounded(perSecond)
      figures[`${at}, CPU a question (ms)`] = rounded(cpu)
      figures[`${at}, p50 (ms)`] = rounded(p50)
      figures[`${at}, p95 (ms)`] = rounded(p95)
      figures[`${at}, p99 (ms)`] = rounded(p99)
    }
    return figures
  })

export const bench: Bench = ({ quick }) => atSize(quick ? 20_000 : 1_000_000)
