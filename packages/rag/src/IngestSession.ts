/** One ingest from its source to its report: what is new is written, what is gone is removed. */
import { Effect, Stream } from "effect"
import type { SourceFile } from "./Batches.ts"
import { documentEvent } from "./DocumentEvent.ts"
import type { Format, Parsed } from "./Document.ts"
import { documentId } from "./Draft.ts"
import { folderFiles, metadataOf } from "./FolderFiles.ts"
import { ingestFiles } from "./Ingest.ts"
import type { FolderSource, IngestEvent, IngestSource, Upload } from "./IngestReport.ts"
import type { PassageEmbedder } from "./PassageEmbedder.ts"
import type { Collection, Replacement, StoredDocument } from "./PassageIndex.ts"
import { RagError } from "./RagError.ts"
import { reported } from "./Reported.ts"
import { pictureBeside } from "./SourceFiles.ts"
import { decodeReading } from "./StoredReading.ts"

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
      const files = documents.map((stored): SourceFile => {
        const { info, source } = stored
        return {
          path: info.path,
          source,
          read: storedOriginal(current, info),
          metadata: Effect.succeed(info.metadata),
          picture: source === "" ? undefined : pictureBeside(source, info.path),
          reading: storedReading(current, stored),
          pictures: stored.pictures
        }
      })
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
      return reported(files.length, filled, Effect.as(Effect.andThen(next.settle, publish), []), [])
    })
  )

/** A text file with the pictures that lay beside it: they may be gone by now, so it is taken as it was read. */
const storedReading = (
  collection: Collection | undefined,
  { info, reading }: StoredDocument
): Effect.Effect<Parsed | undefined, RagError> | undefined =>
  collection === undefined || reading === undefined || !BESIDE.has(info.format)
    ? undefined
    : Effect.flatMap(collection.original(reading), (bytes) =>
        bytes === undefined ? Effect.succeed(undefined) : decodeReading(bytes, info.path, collection.original)
      )

const BESIDE: ReadonlySet<Format> = new Set(["markdown", "html"])

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
  source: FolderSource,
  into: Collection,
  embedder: PassageEmbedder,
  known: Map<string, StoredDocument>
) {
  const { count, failed, files, gone } = yield* folderFiles(source, known)
  const seen = new Set<string>()
  const written = ingestFiles(files, into, embedder, known).pipe(
    Stream.tap((event) =>
      Effect.sync(() => {
        if (event.type === "document") seen.add(documentId(event.path))
      })
    )
  )
  const removeGone = Effect.gen(function* () {
    const documents = gone(seen)
    yield* into.remove(documents.map(({ info }) => info.id))
    return documents.map(({ info }) => documentEvent(info, "removed"))
  })
  return reported(count, written, Effect.tap(removeGone, into.settle), failed)
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
  return reported(list?.length, ingestFiles(sources, into, embedder, known), Effect.as(into.settle, []), [])
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
