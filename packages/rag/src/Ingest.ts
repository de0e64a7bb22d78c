/** Files into a collection: only what changed, in commits of whole documents. */
import { isDeepStrictEqual } from "node:util"
import { Clock, Effect, Stream } from "effect"
import type { DocumentInfo, Metadata } from "./Document.ts"
import { type Draft, documentId, draftOf } from "./Draft.ts"
import type { IngestEvent } from "./IngestReport.ts"
import { parse } from "./parse/Parser.ts"
import { type PassageEmbedder, sha256 } from "./PassageEmbedder.ts"
import type { Collection, IndexedDocument, IndexedPassage, StoredDocument } from "./PassageIndex.ts"
import type { RagError } from "./RagError.ts"

/** A commit is due at so many passages … */
const COMMIT_PASSAGES = 1_000
/** … at so many bytes of files, so that a few large ones do not fill the memory … */
const COMMIT_BYTES = 32 * 1024 * 1024
/** … or after so long, so that a crash loses little. */
const COMMIT_MILLIS = 1_000

/** Batches in a row of which a model embedded nothing at all: it is down, and asking on would only take time. */
const DEAD_BATCHES = 2

/** A file that may have to be written. */
export interface SourceFile {
  readonly path: string
  /** Absolute path of the folder that was ingested; empty for uploads. */
  readonly source: string
  readonly read: Effect.Effect<Uint8Array, RagError>
  /** Undefined leaves what the document has. */
  readonly metadata: Effect.Effect<Metadata | undefined, RagError>
}

/** What was read last of a path. */
interface Latest {
  readonly sha256: string
  readonly metadata: Metadata | undefined
}

type Looked =
  | { readonly _tag: "Draft"; readonly draft: Draft }
  /** `now` is what is to be known of it from now on: it may come from elsewhere, or have other metadata. */
  | { readonly _tag: "Unchanged"; readonly stored: StoredDocument; readonly now: StoredDocument }
  | { readonly _tag: "Gone"; readonly path: string }
  | { readonly _tag: "Failed"; readonly path: string; readonly error: RagError }

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
  known: Map<string, StoredDocument>
): Stream.Stream<IngestEvent, E | RagError, R> => {
  let dead = 0
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
        return { passage, hash, vector, search: text }
      })
      ready.push({ ...draft, passages: indexed })
    }
    const first = embeddings.find((embedding) => embedding._tag === "Failed")
    dead = first !== undefined && embeddings.every(({ _tag }) => _tag === "Failed") ? dead + 1 : 0
    if (dead >= DEAD_BATCHES && first !== undefined) return yield* first.error
    return { ready, adopted: batch.adopted, events: [...batch.events, ...failed] }
  })

  // A path may come twice in a stream of uploads: what counts is what was read of it last.
  const latest = new Map<string, Latest>()
  return files.pipe(
    Stream.mapEffect((file) => look(file, known, latest), { concurrency: 2 }),
    Stream.rechunk(1),
    Stream.mapAccumEffect(emptyBatch, gather, { onHalt: (batch) => [batch] }),
    Stream.rechunk(1),
    Stream.mapEffect(embedBatch),
    Stream.buffer({ capacity: 1 }),
    Stream.mapEffect(({ ready, adopted, events }) =>
      Effect.gen(function* () {
        yield* into.adopt(adopted)
        for (const stored of adopted) known.set(stored.info.id, stored)
        const documents = ready.map((document) => ({ ...document, replaces: known.get(document.info.id) }))
        yield* into.commit(documents)
        const written = documents.map(({ attachments, info, reading, replaces, source }): IngestEvent => {
          known.set(info.id, { info, source, whole: true, reading, attachments: [...attachments.keys()] })
          return documentEvent(info, replaces === undefined ? "added" : "replaced")
        })
        const passages = ready.reduce((sum, document) => sum + document.passages.length, 0)
        const committed: ReadonlyArray<IngestEvent> =
          ready.length === 0 ? [] : [{ type: "committed", documents: ready.length, passages }]
        return [...events, ...written, ...committed]
      })
    ),
    Stream.flattenIterable
  )
}

/** Reads one file, and reads it as a document unless it is what the collection has. */
const look = (
  file: SourceFile,
  known: ReadonlyMap<string, StoredDocument>,
  latest: Map<string, Latest>
): Effect.Effect<Looked> =>
  readDocument(file, known, latest).pipe(
    Effect.catch((error): Effect.Effect<Looked> => {
      // Listed a moment ago and gone now: as if it had not been listed.
      const gone = error.reason === "NotFound" && file.source !== ""
      return Effect.succeed(
        gone ? { _tag: "Gone", path: file.path } : { _tag: "Failed", path: file.path, error }
      )
    })
  )

const readDocument = Effect.fn("Ingest.read")(function* (
  file: SourceFile,
  known: ReadonlyMap<string, StoredDocument>,
  latest: Map<string, Latest>
): Effect.fn.Return<Looked, RagError> {
  const original = yield* file.read
  const given = yield* file.metadata
  const id = documentId(file.path)
  const stored = known.get(id)
  const hash = sha256(original)
  const before = latest.get(id)
  const metadata = given ?? (before ?? stored?.info)?.metadata
  latest.set(id, { sha256: hash, metadata })
  const { path, source } = file
  const settled =
    before === undefined || (before.sha256 === hash && isDeepStrictEqual(before.metadata, metadata))
  if (stored !== undefined && settled && stored.whole && stored.info.sha256 === hash) {
    const info = metadata === undefined ? stored.info : { ...stored.info, metadata }
    return { _tag: "Unchanged", stored, now: { ...stored, info, source } }
  }
  const parsed = yield* parse({ path, bytes: original })
  return { _tag: "Draft", draft: yield* draftOf({ path, source, original, sha256: hash, metadata }, parsed) }
})

interface Batch {
  readonly since: number | undefined
  readonly drafts: ReadonlyArray<Draft>
  readonly passages: number
  readonly bytes: number
  /** Unchanged documents that were moved with their folder, or that have other metadata now. */
  readonly adopted: ReadonlyArray<StoredDocument>
  /** What is to be said of files that need no commit. */
  readonly events: ReadonlyArray<IngestEvent>
}

const emptyBatch = (): Batch => ({
  since: undefined,
  drafts: [],
  passages: 0,
  bytes: 0,
  adopted: [],
  events: []
})

/** Adds a file to the batch, and gives the batch away when a commit is due. */
const gather = (batch: Batch, looked: Looked): Effect.Effect<readonly [Batch, ReadonlyArray<Batch>]> =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const since = batch.since ?? now
    switch (looked._tag) {
      case "Gone":
        return [batch, []]
      case "Failed":
        return due(
          { ...batch, since, events: [...batch.events, failedEvent(looked.path, looked.error)] },
          now
        )
      case "Unchanged": {
        const { now: present, stored } = looked
        const same = isDeepStrictEqual(stored.info.metadata, present.info.metadata)
        const moved = same && stored.source === present.source ? [] : [present]
        const events = [...batch.events, documentEvent(present.info, same ? "unchanged" : "replaced")]
        return due({ ...batch, since, adopted: [...batch.adopted, ...moved], events }, now)
      }
      case "Draft": {
        const { draft } = looked
        // The same path twice, in a stream of uploads: the later one replaces the earlier, in a commit of its own.
        const twice = batch.drafts.some(({ info }) => info.id === draft.info.id)
        const base = twice ? emptyBatch() : batch
        const [next, out] = due(
          {
            ...base,
            since,
            drafts: [...base.drafts, draft],
            passages: base.passages + draft.passages.length,
            bytes: base.bytes + draft.original.byteLength
          },
          now
        )
        return [next, twice ? [batch, ...out] : out]
      }
    }
  })

const due = (batch: Batch, now: number): readonly [Batch, ReadonlyArray<Batch>] =>
  batch.passages >= COMMIT_PASSAGES ||
  batch.bytes >= COMMIT_BYTES ||
  now - (batch.since ?? now) >= COMMIT_MILLIS ||
  batch.events.length >= COMMIT_PASSAGES
    ? [emptyBatch(), [batch]]
    : [batch, []]

/** What became of a document that needs no more work. */
export const documentEvent = (
  info: DocumentInfo,
  status: "added" | "replaced" | "unchanged" | "removed"
): IngestEvent => ({
  type: "document",
  path: info.path,
  id: info.id,
  status,
  passages: info.passages,
  ...(info.faults === undefined || status === "removed" ? {} : { faults: info.faults })
})

/** A file that could not be ingested. */
export const failedEvent = (path: string, error: RagError): IngestEvent => ({
  type: "document",
  path,
  status: "failed",
  passages: 0,
  error
})
