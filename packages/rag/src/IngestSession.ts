/** One ingest from its source to its report: what is new is written, what is gone is removed. */
import { Effect, Stream } from "effect"
import type { SourceFile } from "./Batches.ts"
import { checkMetadata } from "./CheckMetadata.ts"
import type { Metadata } from "./Document.ts"
import { documentEvent, failedEvent } from "./DocumentEvent.ts"
import { documentId } from "./Draft.ts"
import { ingestFiles } from "./Ingest.ts"
import type {
  FolderSource,
  IngestEvent,
  IngestFailure,
  IngestReport,
  IngestSource,
  Upload
} from "./IngestReport.ts"
import type { PassageEmbedder } from "./PassageEmbedder.ts"
import type { Collection, Replacement, StoredDocument } from "./PassageIndex.ts"
import { RagError } from "./RagError.ts"
import { folderName, isThere, listFiles, readSource } from "./SourceFiles.ts"

/** Brings a collection up to date with a source. The last event is `done`. */
export const ingestSource = (
  source: IngestSource,
  into: Collection,
  embedder: PassageEmbedder
): Stream.Stream<IngestEvent, RagError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const known = new Map((yield* into.inventory).map((stored) => [stored.info.id, stored]))
      if (typeof source === "string") return yield* fromFolder({ folder: source }, into, embedder, known)
      return "folder" in source
        ? yield* fromFolder(source, into, embedder, known)
        : fromUploads(source.files, into, embedder, known)
    })
  )

/**
 * Fills a replacement from the originals of the current collection, and publishes it when all of them are in it.
 *
 * **Gotchas.** When one document fails, nothing changes: a rebuild never loses a document.
 */
export const rebuildFrom = (
  { current, next, publish }: Replacement,
  embedder: PassageEmbedder
): Stream.Stream<IngestEvent, RagError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const documents = current === undefined ? [] : yield* current.inventory
      const files = documents.map(({ info, source }): SourceFile => ({
        path: info.path,
        source,
        read: storedOriginal(current, info),
        metadata: Effect.succeed(info.metadata)
      }))
      const filled = ingestFiles(Stream.fromIterable(files), next, embedder, new Map()).pipe(
        Stream.mapEffect((event) =>
          event.type === "document" && event.status === "failed"
            ? Effect.fail(
                new RagError({
                  stage: "ingest",
                  reason: event.error.reason,
                  message: `The rebuild stopped at ${event.path}; the collection is as it was. ${event.error.message}`,
                  document: event.path,
                  cause: event.error
                })
              )
            : Effect.succeed(event)
        )
      )
      return finish(files.length, filled, Effect.as(Effect.andThen(next.settle, publish), []), [])
    })
  )

/** The bytes that are stored for a document. */
export const storedOriginal = (
  collection: Collection | undefined,
  info: { readonly sha256: string; readonly path: string }
): Effect.Effect<Uint8Array, RagError> =>
  Effect.gen(function* () {
    const bytes = collection === undefined ? undefined : yield* collection.original(info.sha256)
    if (bytes !== undefined) return bytes
    return yield* new RagError({
      stage: "store",
      reason: "Store",
      message: `The original of ${info.path} is not in the store. Ingest the file again.`,
      document: info.path
    })
  })

const fromFolder = Effect.fn("IngestSession.folder")(function* (
  { folder, metadata }: FolderSource,
  into: Collection,
  embedder: PassageEmbedder,
  known: Map<string, StoredDocument>
) {
  const { failed, paths, root, whole } = yield* listFiles(folder)
  const seen = new Set<string>()
  const files = Stream.fromIterable(paths).pipe(
    Stream.mapEffect((path) =>
      Effect.map(nameOf(path, root, known), (name): SourceFile => ({
        path: name,
        source: root,
        read: readSource(root, path),
        metadata: metadataOf(path, () => metadata?.(path))
      }))
    )
  )
  const written = ingestFiles(files, into, embedder, known).pipe(
    Stream.tap((event) =>
      Effect.sync(() => {
        if (event.type === "document") seen.add(documentId(event.path))
      })
    )
  )
  const removeGone = Effect.gen(function* () {
    // What stands below a folder that could not be read is unknown, not gone.
    const unknown = failed.map((failure) => `${failure.path}/`)
    const gone = [...known.values()].filter(
      ({ info, source }) =>
        source === root && !seen.has(info.id) && !unknown.some((folder) => info.path.startsWith(folder))
    )
    yield* into.remove(gone.map(({ info }) => info.id))
    return gone.map(({ info }) => documentEvent(info, "removed"))
  })
  return finish(
    paths.length,
    written,
    (whole ? removeGone : Effect.succeed([])).pipe(Effect.tap(into.settle)),
    failed
  )
})

const fromUploads = (
  files: Iterable<Upload> | Stream.Stream<Upload, RagError>,
  into: Collection,
  embedder: PassageEmbedder,
  known: Map<string, StoredDocument>
): Stream.Stream<IngestEvent, RagError> => {
  const list = Stream.isStream(files) ? undefined : [...files]
  const uploads = Stream.isStream(files) ? files : Stream.fromIterable(list ?? [])
  const sources = uploads.pipe(
    Stream.map((upload): SourceFile => {
      const path = cleanPath(upload.path)
      const read = path === "" ? nameless(upload.path) : Effect.succeed(upload.bytes)
      return { path, source: "", read, metadata: metadataOf(path, () => upload.metadata) }
    })
  )
  return finish(list?.length, ingestFiles(sources, into, embedder, known), Effect.as(into.settle, []), [])
}

/** What the program attaches to a document, checked; its function may throw. */
export const metadataOf = (
  path: string,
  of: () => Metadata | undefined
): Effect.Effect<Metadata | undefined, RagError> =>
  Effect.try({
    try: of,
    catch: (cause) =>
      new RagError({
        stage: "ingest",
        reason: "Malformed",
        message: `The function that gives metadata failed for ${path}: ${String(cause)}. Mend it, and ingest again.`,
        document: path,
        cause
      })
  }).pipe(
    Effect.flatMap((metadata) =>
      metadata === undefined ? Effect.succeed(undefined) : checkMetadata(path, metadata)
    )
  )

/** `found`, what was written, what the end brings, and the report. */
const finish = (
  found: number | undefined,
  written: Stream.Stream<IngestEvent, RagError>,
  end: Effect.Effect<ReadonlyArray<IngestEvent>, RagError>,
  failed: ReadonlyArray<IngestFailure>
): Stream.Stream<IngestEvent, RagError> =>
  Stream.suspend(() => {
    const counts = { added: 0, replaced: 0, unchanged: 0, removed: 0, failed: 0 }
    const failures: Array<IngestFailure> = []
    let passages = 0
    const first: ReadonlyArray<IngestEvent> = [
      ...(found === undefined ? [] : [{ type: "found", files: found } as const]),
      ...failed.map(({ error, path }) => failedEvent(path, error))
    ]
    return Stream.fromIterable(first).pipe(
      Stream.concat(written),
      Stream.concat(Stream.fromIterableEffect(end)),
      Stream.tap((event) =>
        Effect.sync(() => {
          if (event.type === "committed") passages += event.passages
          if (event.type !== "document") return
          counts[event.status]++
          if (event.status === "failed") failures.push({ path: event.path, error: event.error })
        })
      ),
      Stream.concat(
        Stream.sync((): IngestEvent => {
          const { added, removed, replaced, unchanged } = counts
          const report: IngestReport = { added, replaced, unchanged, removed, passages, failed: failures }
          return { type: "done", report }
        })
      )
    )
  })

/**
 * The name a file goes by. Two folders may have a file of the same relative path: while the other one is still there,
 * the name of the folder is put before the path of the second.
 */
const nameOf = (
  path: string,
  root: string,
  known: ReadonlyMap<string, StoredDocument>
): Effect.Effect<string> => {
  const holder = known.get(documentId(path))
  if (holder === undefined || holder.source === root || holder.source === "") return Effect.succeed(path)
  return Effect.map(isThere(holder.source, path), (there) => (there ? `${folderName(root)}/${path}` : path))
}

/** A relative path with `/`, without anything that leads upwards. */
const cleanPath = (path: string): string =>
  path
    .replaceAll("\\", "/")
    .split("/")
    .filter((part) => part !== "" && part !== "." && part !== "..")
    .join("/")

const nameless = (path: string): Effect.Effect<never, RagError> =>
  Effect.fail(
    new RagError({
      stage: "ingest",
      reason: "Malformed",
      message: `A file was given the path "${path}", which names no file. Give it a name.`
    })
  )
