/** Files into batches of whole documents: what each file is, and when there is enough to embed. */
import { isDeepStrictEqual } from "node:util"
import { Clock, Effect, Stream } from "effect"
import type { Metadata, Parsed, PictureBeside } from "../document/Document.ts"
import { type Draft, documentId, draftOf } from "./Draft.ts"
import { documentEvent, failedEvent } from "./DocumentEvent.ts"
import type { IngestEvent } from "./IngestReport.ts"
import { parse } from "../formats/Parser.ts"
import type { PictureFile } from "../formats/parsing/Pictures.ts"
import { sha256 } from "../embedding/PassageEmbedder.ts"
import { mayShowPictures, sameStill, watching } from "./sources/PicturesBeside.ts"
import type { StoredDocument } from "../store/PassageIndex.ts"
import type { RagError } from "../document/RagError.ts"

/** A batch is given away at so many passages … */
const BATCH_PASSAGES = 1_000
/** … at so many bytes of files, so that a few large ones do not fill the memory … */
const BATCH_BYTES = 32 * 1024 * 1024
/** … or after so long, so that a crash loses little. */
const BATCH_MILLIS = 1_000

/** A file that may have to be written. */
export interface SourceFile {
  readonly path: string
  /** Absolute path of the folder that was ingested; empty for uploads. */
  readonly source: string
  readonly read: Effect.Effect<Uint8Array, RagError>
  /** Undefined leaves what the document has. */
  readonly metadata: Effect.Effect<Metadata | undefined, RagError>
  /** Reads pictures that lie beside the file. */
  readonly picture?: PictureFile | undefined
  /** What was read of the file before, where that is better than to read it again. */
  readonly reading?: Effect.Effect<Parsed | undefined, RagError> | undefined
  /** The pictures that `reading` was read with. */
  readonly pictures?: ReadonlyArray<PictureBeside> | undefined
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

/** When a batch is given away: `steady` also after a second, `counted` by passages and bytes alone, the same every time. */
export type Pace = "steady" | "counted"

/** The files in batches, in their order, each embedded together and written in one commit. `known` is what the collection holds. */
export const batchesOf = <E, R>(
  files: Stream.Stream<SourceFile, E, R>,
  known: ReadonlyMap<string, StoredDocument>,
  pace: Pace
): Stream.Stream<Batch, E, R> => {
  // A path may come twice in a stream of uploads: what counts is what was read of it last.
  const latest = new Map<string, Latest>()
  return files.pipe(
    // Between two files others have their turn: what waits to be sent, or was answered, waits for no whole batch.
    Stream.mapEffect((file) => Effect.andThen(Effect.yieldNow, look(file, known, latest)), {
      concurrency: 2
    }),
    Stream.rechunk(1),
    Stream.mapAccumEffect(emptyBatch, (batch, looked) => gather(batch, looked, pace), {
      onHalt: (batch) => [batch]
    }),
    Stream.rechunk(1)
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
  const earlier = latest.get(id)
  const metadata = given ?? (earlier ?? stored?.info)?.metadata
  latest.set(id, { sha256: hash, metadata })
  const { path, source } = file
  const settled =
    earlier === undefined || (earlier.sha256 === hash && isDeepStrictEqual(earlier.metadata, metadata))
  const same = stored !== undefined && settled && stored.whole && stored.info.sha256 === hash
  if (same && (yield* hasItsPictures(file, original, stored))) {
    const info = metadata === undefined ? stored.info : { ...stored.info, metadata }
    return { _tag: "Unchanged", stored, now: { ...stored, info, source } }
  }
  const before = file.reading === undefined ? undefined : yield* file.reading
  const watch = file.picture === undefined ? undefined : watching(file.picture)
  const parsed = before ?? (yield* parse({ path, bytes: original, picture: watch?.picture }))
  const looked = watch !== undefined && (yield* mayShowPictures(path, original)) ? watch.seen() : undefined
  const pictures = before === undefined ? looked : file.pictures
  return {
    _tag: "Draft",
    draft: yield* draftOf({ path, source, original, sha256: hash, metadata, pictures }, parsed)
  }
})

/** Whether the pictures beside an unchanged file are those it was read with. */
const hasItsPictures = (
  { path, picture }: SourceFile,
  original: Uint8Array,
  { pictures }: StoredDocument
): Effect.Effect<boolean> => {
  if (picture === undefined) return Effect.succeed(true)
  // Collections of earlier versions do not know them: what may show some is read once more.
  return pictures === undefined
    ? Effect.map(mayShowPictures(path, original), (may) => !may)
    : sameStill(pictures, picture)
}

/** Documents that are embedded together, and what else there is to say of the files among them. */
export interface Batch {
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

/** Adds a file to the batch, and gives the batch away when it is due. */
const gather = (
  batch: Batch,
  looked: Looked,
  pace: Pace
): Effect.Effect<readonly [Batch, ReadonlyArray<Batch>]> =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const since = batch.since ?? now
    const late = pace === "steady" && now - since >= BATCH_MILLIS
    switch (looked._tag) {
      case "Gone":
        return [batch, []]
      case "Failed":
        return due(
          { ...batch, since, events: [...batch.events, failedEvent(looked.path, looked.error)] },
          late
        )
      case "Unchanged": {
        const { now: present, stored } = looked
        const same = isDeepStrictEqual(stored.info.metadata, present.info.metadata)
        const moved = same && stored.source === present.source ? [] : [present]
        const events = [...batch.events, documentEvent(present.info, same ? "unchanged" : "replaced")]
        return due({ ...batch, since, adopted: [...batch.adopted, ...moved], events }, late)
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
          late
        )
        return [next, twice ? [batch, ...out] : out]
      }
    }
  })

const due = (batch: Batch, late: boolean): readonly [Batch, ReadonlyArray<Batch>] =>
  late ||
  batch.passages >= BATCH_PASSAGES ||
  batch.bytes >= BATCH_BYTES ||
  batch.events.length >= BATCH_PASSAGES
    ? [emptyBatch(), [batch]]
    : [batch, []]
