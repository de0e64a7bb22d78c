/** Writes files into a collection: only what changed, in commits of whole documents. */
import { Effect, Queue, Stream } from "effect"
import type { RagError } from "../document/RagError.ts"
import { searchText } from "../document/SearchText.ts"
import type { PassageEmbedder } from "../embedding/PassageEmbedder.ts"
import { OnPage, StoredReadings } from "../formats/parsing/Readings.ts"
import type { Collection, IndexedDocument, IndexedPassage, StoredDocument } from "../store/PassageIndex.ts"
import { type Batch, batchFiles, type Pace } from "./Batches.ts"
import { type CommitPart, groupCommits } from "./Commits.ts"
import { Descriptions, makeDescriptionCache } from "./DescribeFigures.ts"
import { type IngestEvent, documentEvent, failedEvent } from "./IngestEvents.ts"
import type { SourceFile } from "./sources/Source.ts"
import { makeStoredReadings } from "./StoredReadings.ts"

/** The ingest ends after this many consecutive batches without any vector: the model is down. */
const FAILED_BATCHES = 2

/** Batches that are embedded concurrently: the next one starts while the last calls of one are pending. */
const CONCURRENT_BATCHES = 2

/** Passages whose keywords are made before other work runs. They take about 10 ms. */
const PORTION = 200

interface EmbeddedBatch extends CommitPart {
  /** The first failure, if no passage has a vector. */
  readonly failure: RagError | undefined
  readonly ready: ReadonlyArray<Omit<IndexedDocument, "replaces">>
  readonly adopted: ReadonlyArray<StoredDocument>
  readonly removed: Batch["removed"]
  readonly events: ReadonlyArray<IngestEvent>
}

/** What an ingest needs of a collection. */
export type IngestCollection = Pick<Collection, "adopt" | "commit" | "keep" | "original" | "remove">

/**
 * Writes the files that differ from `stored`, and emits an event for each file.
 *
 * **Details.** `stored` are the documents of the collection, by identifier, and is updated. An event is emitted once its
 * document is on disk. Parsing and embedding continue while a commit is written.
 */
export const ingestFiles = <E, R>(
  files: Stream.Stream<SourceFile, E, R>,
  collection: IngestCollection,
  embedder: PassageEmbedder,
  stored: Map<string, StoredDocument>,
  pace: Pace = "timed"
): Stream.Stream<IngestEvent, E | RagError, R> => {
  let failedBatches = 0
  const endIfDown = (batch: EmbeddedBatch): Effect.Effect<EmbeddedBatch, RagError> => {
    failedBatches = batch.failure === undefined ? 0 : failedBatches + 1
    return batch.failure !== undefined && failedBatches >= FAILED_BATCHES
      ? batch.failure
      : Effect.succeed(batch)
  }

  // Defined once: V8 keeps the closure of each generator call, here a commit's vectors and texts, until a full collection.
  const write = Effect.fnUntraced(function* (batches: ReadonlyArray<EmbeddedBatch>) {
    const adopted = batches.flatMap((batch) => batch.adopted)
    const ready = batches.flatMap((batch) => batch.ready)
    const events = batches.flatMap((batch) => batch.events)
    yield* collection.adopt(adopted)
    for (const document of adopted) stored.set(document.info.id, document)
    const documents = ready.map((document) => ({ ...document, replaces: stored.get(document.info.id) }))
    yield* collection.commit(documents)
    const written = documents.map(({ attachments, info, pictures, reading, replaces, source, version }) => {
      const keys = [...attachments.keys()]
      const kept = { source, version, reading, attachments: keys, pictures }
      stored.set(info.id, { info, isComplete: true, ...kept })
      return documentEvent(info, replaces === undefined ? "added" : "replaced")
    })
    const removed = batches
      .flatMap((batch) => batch.removed)
      .flatMap(({ id, source }) => {
        const document = stored.get(id)
        return document?.source === source ? [document] : []
      })
    yield* collection.remove(removed.map(({ info }) => info.id))
    const gone = removed.map(({ info }) => {
      stored.delete(info.id)
      return documentEvent(info, "removed")
    })
    const passages = ready.reduce((sum, document) => sum + document.passages.length, 0)
    const committed: ReadonlyArray<IngestEvent> =
      ready.length === 0 ? [] : [{ type: "committed", documents: ready.length, passages }]
    return [...events, ...written, ...gone, ...committed]
  })

  return Stream.unwrap(
    Effect.gen(function* () {
      const readings = yield* makeStoredReadings(collection)
      const pages = yield* Queue.unbounded<IngestEvent>()
      // Each buffer holds the next batch, or the next commit, while the present one is processed.
      return batchFiles(files, stored, pace).pipe(
        Stream.provideService(Descriptions, makeDescriptionCache(collection.original)),
        Stream.provideService(StoredReadings, readings),
        Stream.provideService(OnPage, (progress) => Queue.offer(pages, { type: "pages", ...progress })),
        Stream.buffer({ capacity: 1 }),
        Stream.mapEffect((batch) => embedBatch(batch, embedder), { concurrency: CONCURRENT_BATCHES }),
        Stream.mapEffect(endIfDown),
        groupCommits,
        Stream.buffer({ capacity: 1 }),
        Stream.mapEffect(write),
        Stream.flattenIterable,
        Stream.merge(Stream.fromQueue(pages), { haltStrategy: "left" })
      )
    })
  )
}

/** Embeds the passages of a batch. A document fails with the first of its passages that fails. */
const embedBatch = Effect.fn("Ingest.embed")(function* (batch: Batch, embedder: PassageEmbedder) {
  const embeddings = yield* embedder.embed(batch.changed.flatMap(({ passages }) => passages))
  const ready: Array<Omit<IndexedDocument, "replaces">> = []
  const failed: Array<IngestEvent> = []
  let at = 0
  for (const { passages, ...document } of batch.changed) {
    const own = embeddings.slice(at, (at += passages.length))
    const failure = own.find((embedding) => embedding._tag === "Failed")
    if (failure !== undefined) {
      failed.push(failedEvent(document.info.path, failure.error))
      continue
    }
    const indexed: Array<IndexedPassage> = []
    for (const [i, { hash, passage, text }] of passages.entries()) {
      if (i % PORTION === PORTION - 1) yield* Effect.yieldNow
      const embedding = own[i]
      const vector = embedding?._tag === "Vector" ? embedding.vector : undefined
      indexed.push({ passage, hash, vector, search: searchText(text) })
    }
    ready.push({ ...document, passages: indexed })
  }
  const first = embeddings.find((embedding) => embedding._tag === "Failed")
  const { adopted, bytes, events, passages, removed } = batch
  const result: EmbeddedBatch = {
    ready,
    adopted,
    removed,
    events: [...events, ...failed],
    passages,
    bytes,
    ids: [...[...ready, ...adopted].map(({ info }) => info.id), ...removed.map(({ id }) => id)],
    failure: embeddings.every(({ _tag }) => _tag === "Failed") ? first?.error : undefined
  }
  return result
})
