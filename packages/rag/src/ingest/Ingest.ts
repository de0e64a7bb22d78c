/** Files into a collection: only what changed, in commits of whole documents. */
import { Effect, Stream } from "effect"
import { type Batch, batchesOf, type Pace, type SourceFile } from "./Batches.ts"
import { type CommitPart, commitsOf } from "./Commits.ts"
import { describedOnce, Descriptions } from "./DescribeFigures.ts"
import { documentEvent, failedEvent } from "./DocumentEvent.ts"
import type { IngestEvent } from "./IngestReport.ts"
import type { PassageEmbedder } from "../embedding/PassageEmbedder.ts"
import type { Collection, IndexedDocument, IndexedPassage, StoredDocument } from "../store/PassageIndex.ts"
import type { RagError } from "../document/RagError.ts"
import { searchText } from "../document/SearchText.ts"

/** Batches in a row of which a model embedded nothing at all: it is down, and asking on would only take time. */
const DEAD_BATCHES = 2

/** Batches that are embedded at once: while the last answers of one are waited for, the next is asked for. */
const BATCHES_AT_ONCE = 2

/** A batch whose passages have their vectors: what is written, and what is said of the others. */
interface Embedded extends CommitPart {
  /** Why no vector came, where none came at all. */
  readonly down: RagError | undefined
  readonly ready: ReadonlyArray<Omit<IndexedDocument, "replaces">>
  readonly adopted: ReadonlyArray<StoredDocument>
  readonly events: ReadonlyArray<IngestEvent>
}

/**
 * Writes the files that `known` does not have as they are, and tells what became of each.
 *
 * **Details.** `known` is what the collection holds, by identifier; it is kept up to date. Documents whose events were
 * emitted are on disk. Reading and embedding go on while a commit is being written.
 */
export const ingestFiles = <E, R>(
  files: Stream.Stream<SourceFile, E, R>,
  into: Collection,
  embedder: PassageEmbedder,
  known: Map<string, StoredDocument>,
  pace: Pace = "steady"
): Stream.Stream<IngestEvent, E | RagError, R> => {
  const embedBatch = Effect.fn("Ingest.embed")(function* (batch: Batch) {
    const texts = batch.drafts.flatMap(({ passages }) => passages)
    const embeddings = yield* embedder.embed(texts)
    const ready: Array<Omit<IndexedDocument, "replaces">> = []
    const failed: Array<IngestEvent> = []
    let at = 0
    for (const { passages, ...draft } of batch.drafts) {
      const own = embeddings.slice(at, (at += passages.length))
      const failure = own.find((embedding) => embedding._tag === "Failed")
      if (failure !== undefined) {
        failed.push(failedEvent(draft.info.path, failure.error))
        continue
      }
      const indexed = passages.map(({ passage, hash, text }, i): IndexedPassage => {
        const embedding = own[i]
        const vector = embedding?._tag === "Vector" ? embedding.vector : undefined
        return { passage, hash, vector, search: searchText(text) }
      })
      ready.push({ ...draft, passages: indexed })
    }
    const first = embeddings.find((embedding) => embedding._tag === "Failed")
    const down = embeddings.every(({ _tag }) => _tag === "Failed") ? first?.error : undefined
    const { adopted, bytes, events, passages } = batch
    const ids = [...ready, ...adopted].map(({ info }) => info.id)
    return { ready, adopted, events: [...events, ...failed], passages, bytes, ids, down }
  })

  let dead = 0
  const endWhenDown = (batch: Embedded): Effect.Effect<Embedded, RagError> => {
    dead = batch.down === undefined ? 0 : dead + 1
    return batch.down !== undefined && dead >= DEAD_BATCHES ? batch.down : Effect.succeed(batch)
  }

  // Made once: V8 keeps what the generator of each call sees, a commit's vectors and texts, until it collects everything.
  const write = Effect.fnUntraced(function* (batches: ReadonlyArray<Embedded>) {
    const adopted = batches.flatMap((batch) => batch.adopted)
    const ready = batches.flatMap((batch) => batch.ready)
    const events = batches.flatMap((batch) => batch.events)
    yield* into.adopt(adopted)
    for (const stored of adopted) known.set(stored.info.id, stored)
    const documents = ready.map((document) => ({ ...document, replaces: known.get(document.info.id) }))
    yield* into.commit(documents)
    const written = documents.map(({ attachments, replaces, ...document }): IngestEvent => {
      const { info, pictures, reading, source } = document
      const kept = { reading, attachments: [...attachments.keys()], pictures }
      known.set(info.id, { info, source, whole: true, ...kept })
      return documentEvent(info, replaces === undefined ? "added" : "replaced")
    })
    const passages = ready.reduce((sum, document) => sum + document.passages.length, 0)
    const committed: ReadonlyArray<IngestEvent> =
      ready.length === 0 ? [] : [{ type: "committed", documents: ready.length, passages }]
    return [...events, ...written, ...committed]
  })

  // The next batch is read while these are embedded, and these while the last commit is being written.
  return batchesOf(files, known, pace).pipe(
    Stream.provideService(Descriptions, describedOnce(into.original)),
    Stream.buffer({ capacity: 1 }),
    Stream.mapEffect(embedBatch, { concurrency: BATCHES_AT_ONCE }),
    Stream.mapEffect(endWhenDown),
    commitsOf,
    Stream.buffer({ capacity: 1 }),
    Stream.mapEffect(write),
    Stream.flattenIterable
  )
}
