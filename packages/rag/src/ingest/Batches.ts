/** Groups files into batches of whole documents, which are embedded together. */
import { isDeepStrictEqual } from "node:util"
import { Clock, Effect, Stream } from "effect"
import type { Metadata } from "../document/Document.ts"
import { documentId, sha256 } from "../document/Hash.ts"
import type { RagError } from "../document/RagError.ts"
import { parsedBytesOf } from "../document/StoredBytes.ts"
import { checkUrl } from "../document/Url.ts"
import { chunkParsed, parseAndChunk } from "../formats/ParsedFile.ts"
import type { StoredDocument } from "../store/PassageIndex.ts"
import { type ChunkedDocument, chunkedDocument } from "./ChunkedDocument.ts"
import { type IngestEvent, documentEvent, failedEvent } from "./IngestEvents.ts"
import { readConcurrently } from "./ConcurrentReads.ts"
import { mayLinkPictures, picturesUnchanged, recordPictures } from "./sources/LinkedPictures.ts"
import { AdmitParsed, OnParsed, ReplacedBytes, type SourceFile } from "./sources/Source.ts"

/** A batch ends at this many passages, … */
const BATCH_PASSAGES = 1_000
/** … at this many bytes of files, which limits the memory, … */
const BATCH_BYTES = 32 * 1024 * 1024
/** … or after this time, so that a crash loses little. */
const BATCH_MILLIS = 1_000

/** The last version that was read of a path. */
interface ReadVersion {
  /** Which of the files it was. */
  readonly order: number
  readonly sha256: string
  readonly metadata: Metadata | undefined
  readonly url: string | undefined
}

type ReadResult =
  | { readonly _tag: "Changed"; readonly document: ChunkedDocument }
  /** `next` is what to store of it: it may have another source folder or other metadata. */
  | { readonly _tag: "Unchanged"; readonly stored: StoredDocument; readonly next: StoredDocument }
  | { readonly _tag: "Deleted" }
  | { readonly _tag: "Removed"; readonly removal: Removal }
  | { readonly _tag: "Failed"; readonly path: string; readonly error: RagError }

/** A document to remove, if it still has this source. */
interface Removal {
  readonly id: string
  readonly source: string
}

/** `timed` ends a batch after a second too; `repeatable` makes the same batches of the same files every time. */
export type Pace = "timed" | "repeatable"

/** Documents that are embedded together and written in one commit, and the results for the other files among them. */
export interface Batch {
  readonly since: number | undefined
  readonly changed: ReadonlyArray<ChunkedDocument>
  readonly passages: number
  readonly bytes: number
  /** Unchanged documents with another source folder or other metadata. */
  readonly adopted: ReadonlyArray<StoredDocument>
  readonly removed: ReadonlyArray<Removal>
  /** Events of files that need no commit. */
  readonly events: ReadonlyArray<IngestEvent>
}

const EMPTY: Batch = {
  since: undefined,
  changed: [],
  passages: 0,
  bytes: 0,
  adopted: [],
  removed: [],
  events: []
}

/**
 * The files in batches. `stored` are the documents of the collection, by identifier.
 *
 * **Details.** They are in their order, except that a timed batch does not wait for files that take long.
 */
export const batchFiles = <E, R>(
  files: Stream.Stream<SourceFile, E, R>,
  stored: ReadonlyMap<string, StoredDocument>,
  pace: Pace
): Stream.Stream<Batch, E, R> => {
  // A stream of uploads may have a path twice. The last version counts.
  const latest = new Map<string, ReadVersion>()
  // Parsing a small file blocks the thread. The yield lets pending embedding calls run between two files.
  const read = (file: SourceFile, order: number) =>
    Effect.andThen(Effect.yieldNow, readFile(file, order, stored, latest))
  const isStale = ({ path }: SourceFile, order: number) => (latest.get(documentId(path))?.order ?? 0) > order
  const results: Stream.Stream<ReadResult | void, E, R> =
    pace === "timed"
      ? readConcurrently(files, read, isStale, ({ bytes = 0 }) => bytes).pipe(
          Stream.merge(Stream.tick(BATCH_MILLIS), { haltStrategy: "left" })
        )
      : Stream.mapEffect(Stream.zipWithIndex(files), ([file, order]) => read(file, order), { concurrency: 2 })
  return results.pipe(
    Stream.rechunk(1),
    Stream.mapAccumEffect(
      () => EMPTY,
      (batch, result) => addToBatch(batch, result, pace),
      { onHalt: (batch) => [batch] }
    ),
    Stream.rechunk(1)
  )
}

/** Reads one file, and parses it unless its document is unchanged. */
const readFile = (
  file: SourceFile,
  order: number,
  stored: ReadonlyMap<string, StoredDocument>,
  latest: Map<string, ReadVersion>
): Effect.Effect<ReadResult> =>
  readDocument(file, order, stored, latest).pipe(
    Effect.catch((error): Effect.Effect<ReadResult> => {
      // It was deleted after the folder was listed.
      const deleted = error.reason === "NotFound" && file.source !== ""
      return Effect.succeed(deleted ? { _tag: "Deleted" } : { _tag: "Failed", path: file.path, error })
    }),
    Effect.tap(() => Effect.map(OnParsed, (onParsed) => onParsed(file.path)))
  )

const readDocument = Effect.fn("Ingest.read")(function* (
  file: SourceFile,
  order: number,
  storedDocuments: ReadonlyMap<string, StoredDocument>,
  latest: Map<string, ReadVersion>
): Effect.fn.Return<ReadResult, RagError> {
  const { format, path, source, version } = file
  const id = documentId(path)
  const stored = storedDocuments.get(id)
  const earlier = latest.get(id)
  if (file.removed === true) {
    latest.set(id, { order, sha256: "", metadata: undefined, url: undefined })
    return { _tag: "Removed", removal: { id, source } }
  }
  if (
    earlier === undefined &&
    version !== undefined &&
    stored?.version === version &&
    stored.isComplete &&
    stored.source === source
  )
    return { _tag: "Unchanged", stored, next: stored }
  const original = yield* Effect.provideService(file.read, ReplacedBytes, stored?.info.bytes ?? 0)
  const newMetadata = yield* file.metadata
  const newUrl = yield* checkUrl(path, file.url === undefined ? undefined : yield* file.url)
  const hash = sha256(original)
  const metadata = newMetadata ?? (earlier ?? stored?.info)?.metadata
  const url = newUrl ?? (earlier ?? stored?.info)?.url
  const read: ReadVersion = { order, sha256: hash, metadata, url }
  // A file that took long is read again after the others.
  if (order >= (earlier?.order ?? 0)) latest.set(id, read)
  const isLatest = earlier === undefined || isDeepStrictEqual({ ...earlier, order }, read)
  const same = stored !== undefined && isLatest && stored.isComplete && stored.info.sha256 === hash
  if (same && (yield* hasItsPictures(file, original, stored))) {
    const info = { ...stored.info, ...(metadata && { metadata }), ...(url !== undefined && { url }) }
    return { _tag: "Unchanged", stored, next: { ...stored, info, source, version } }
  }
  const earlierParse = file.parsed === undefined ? undefined : yield* file.parsed
  const recorder = file.picture === undefined ? undefined : recordPictures(file.picture)
  // To hash a large file takes 40 ms, and so does sending it to the pool.
  yield* Effect.yieldNow
  const chunked =
    earlierParse === undefined
      ? yield* parseAndChunk({ path, bytes: original, format, picture: recorder?.picture })
      : yield* chunkParsed(path, earlierParse)
  const seen =
    recorder !== undefined && (yield* mayLinkPictures(path, original)) ? recorder.seen() : undefined
  const pictures = earlierParse === undefined ? seen : file.pictures
  const document = yield* chunkedDocument(
    { path, source, version, original, sha256: hash, metadata, url, pictures },
    chunked
  )
  const replaced = stored === undefined ? 0 : parsedBytesOf(stored.info)
  yield* (yield* AdmitParsed)(path, parsedBytesOf(document.info) - replaced)
  return { _tag: "Changed", document }
})

/** Whether the pictures that an unchanged file links to are unchanged too. */
const hasItsPictures = (
  { path, picture }: SourceFile,
  original: Uint8Array,
  { pictures }: StoredDocument
): Effect.Effect<boolean> => {
  if (picture === undefined) return Effect.succeed(true)
  // Collections of earlier versions have not recorded them, so such a file is parsed once more.
  return pictures === undefined
    ? Effect.map(mayLinkPictures(path, original), (may) => !may)
    : picturesUnchanged(pictures, picture)
}

/** Adds a file to the batch, and emits the batch if it is full. Without a result, a second has passed. */
const addToBatch = (
  batch: Batch,
  result: ReadResult | void,
  pace: Pace
): Effect.Effect<readonly [Batch, ReadonlyArray<Batch>]> =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const since = batch.since ?? now
    const isLate = pace === "timed" && now - since >= BATCH_MILLIS
    if (result === undefined) return isLate ? [EMPTY, [batch]] : [batch, []]
    if (result._tag === "Deleted") return [batch, []]
    // The second version of a path replaces the first, in a commit of its own.
    const isRepeated = hasDocument(batch, idOf(result))
    const [next, full] = emitIfFull({ ...withResult(isRepeated ? EMPTY : batch, result), since }, isLate)
    return [next, isRepeated ? [batch, ...full] : full]
  })

/** The document that a commit writes or removes. */
const idOf = (result: ReadResult): string | undefined =>
  result._tag === "Changed"
    ? result.document.info.id
    : result._tag === "Removed"
      ? result.removal.id
      : undefined

const withResult = (batch: Batch, result: Exclude<ReadResult, { readonly _tag: "Deleted" }>): Batch => {
  switch (result._tag) {
    case "Failed":
      return { ...batch, events: [...batch.events, failedEvent(result.path, result.error)] }
    case "Unchanged": {
      const { next, stored } = result
      const sameMetadata = isDeepStrictEqual(stored.info, next.info)
      const isSame = sameMetadata && stored.source === next.source && stored.version === next.version
      const adopted = isSame ? batch.adopted : [...batch.adopted, next]
      const event = documentEvent(next.info, sameMetadata ? "unchanged" : "replaced")
      return { ...batch, adopted, events: [...batch.events, event] }
    }
    case "Removed":
      return { ...batch, removed: [...batch.removed, result.removal] }
    case "Changed": {
      const { document } = result
      return {
        ...batch,
        changed: [...batch.changed, document],
        passages: batch.passages + document.passages.length,
        bytes: batch.bytes + document.original.byteLength
      }
    }
  }
}

const hasDocument = ({ changed, removed }: Batch, id: string | undefined): boolean =>
  changed.some(({ info }) => info.id === id) || removed.some((removal) => removal.id === id)

const emitIfFull = (batch: Batch, isLate: boolean): readonly [Batch, ReadonlyArray<Batch>] =>
  isLate ||
  batch.passages >= BATCH_PASSAGES ||
  batch.bytes >= BATCH_BYTES ||
  batch.events.length + batch.removed.length >= BATCH_PASSAGES
    ? [EMPTY, [batch]]
    : [batch, []]
