/** One ingest from its source to its report: what is new is written, what is gone is removed. */
import { isDeepStrictEqual } from "node:util"
import { Effect, Predicate, Stream } from "effect"
import type { SourceFile } from "./Batches.ts"
import { documentEvent } from "./DocumentEvent.ts"
import type { Parsed } from "../document/Document.ts"
import { documentId } from "./Draft.ts"
import { DocumentFormats } from "../formats/DocumentFormats.ts"
import { shown } from "../document/Given.ts"
import { folderFiles, metadataOf } from "./sources/FolderFiles.ts"
import { ingestFiles } from "./Ingest.ts"
import type { FolderSource, IngestEvent, IngestSource, Upload } from "./IngestReport.ts"
import type { PassageEmbedder } from "../embedding/PassageEmbedder.ts"
import type { Collection, Replacement, StoredDocument } from "../store/PassageIndex.ts"
import { RagError } from "../document/RagError.ts"
import { reported } from "./Reported.ts"
import { pictureBeside } from "./sources/SourceFiles.ts"
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
      if (Predicate.hasProperty(source, "files"))
        return yield* fromUploads(source.files, into, embedder, known)
      return yield* fromFolder(asFolder(source), into, embedder, known)
    })
  )

/** A folder's path, or what was given in its place, as a source. */
export const asFolder = (source: string | FolderSource): FolderSource =>
  Predicate.hasProperty(source, "folder") ? source : { folder: source }

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
      const brought = new Map<string, StoredDocument>()
      const written = (from: ReadonlyArray<StoredDocument>) =>
        ingestFiles(
          Stream.fromIterable(from.map((stored) => storedFile(current, stored))),
          next,
          embedder,
          brought
        ).pipe(Stream.mapEffect(stoppedByFailure))

      let seen = documents
      /** Brings over what others wrote and removed since it was last done. */
      const catchUp = Effect.gen(function* () {
        if (current === undefined) return
        const now = yield* current.inventory
        const [was, is] = [byId(seen), byId(now)]
        const gone = [...was.keys()].filter((id) => !is.has(id))
        yield* next.remove(gone)
        for (const id of gone) brought.delete(id)
        yield* Stream.runDrain(
          written(now.filter((stored) => !isDeepStrictEqual(stored, was.get(stored.info.id))))
        )
        seen = now
      }).pipe(Effect.withSpan("IngestSession.catchUp"))

      const end = Effect.gen(function* () {
        yield* next.settle
        for (let round = 0; round < ROUNDS; round++) {
          // What takes long comes first: writers wait for what is done while the name moves.
          yield* catchUp
          if (yield* publish(catchUp)) return []
        }
        return yield* neverQuiet
      })
      return reported(documents.length, written(documents), end, [])
    })
  )

/** Writers wait for a switch, so that one who does not means a model that is slow for long. */
const ROUNDS = 10

const neverQuiet = Effect.fail(
  new RagError({
    stage: "ingest",
    reason: "Stale",
    message: `Others wrote to the collection all the time, and ${ROUNDS} times the rebuild could not bring it over before they went on; the collection is as it was. Run it again when fewer write.`
  })
)

const byId = (documents: ReadonlyArray<StoredDocument>): Map<string, StoredDocument> =>
  new Map(documents.map((stored) => [stored.info.id, stored]))

const storedFile = (current: Collection | undefined, stored: StoredDocument): SourceFile => {
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
}

const stoppedByFailure = (event: IngestEvent): Effect.Effect<IngestEvent, RagError> =>
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

/** A text file with the pictures that lay beside it: they may be gone by now, so it is taken as it was read. */
const storedReading = (
  collection: Collection | undefined,
  { info, reading }: StoredDocument
): Effect.Effect<Parsed | undefined, RagError> | undefined =>
  collection === undefined || reading === undefined
    ? undefined
    : Effect.gen(function* () {
        const format = (yield* DocumentFormats).find(({ id }) => id === info.format)
        const bytes = format?.showsPictures === true ? yield* collection.original(reading) : undefined
        return bytes && (yield* decodeReading(bytes, info.path, collection.original))
      })

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

const fromUploads = Effect.fn("IngestSession.uploads")(function* (
  files: Iterable<Upload> | Stream.Stream<Upload, RagError>,
  into: Collection,
  embedder: PassageEmbedder,
  known: Map<string, StoredDocument>
) {
  const list = Stream.isStream(files)
    ? undefined
    : yield* Effect.try({
        try: () => [...files],
        catch: (cause) =>
          malformed(`The files to be ingested could not be listed: ${String(cause)}. Nothing was done.`)
      })
  const uploads = Stream.isStream(files) ? files : Stream.fromIterable(list ?? [])
  const sources = Stream.map(uploads, uploadedFile)
  return reported(list?.length, ingestFiles(sources, into, embedder, known), Effect.as(into.settle, []), [])
})

/** An upload; one that is none, as programs without types may give, is told by itself. */
const uploadedFile = (upload: Partial<Upload> | null): SourceFile => {
  const { bytes, metadata, path: given } = upload ?? {}
  const path = typeof given === "string" ? given : ""
  const named = isPath(path)
  const wrong = named
    ? `${path}: its bytes are no Uint8Array. Give those of the file, as readFile does.`
    : `A file was given the path ${shown(given)}. Give it a relative one, with "/", that has no empty part and neither "." nor "..".`
  const right = named && bytes instanceof Uint8Array
  const read = right ? Effect.succeed(bytes) : Effect.fail(malformed(wrong))
  return { path, source: "", read, metadata: metadataOf(path, () => metadata) }
}

/** Whether it says in one way alone which document is meant: of two names for one, the later file would replace the other. */
const isPath = (path: string): boolean =>
  !path.includes("\\") && path.split("/").every((part) => part !== "" && part !== "." && part !== "..")

const malformed = (message: string): RagError =>
  new RagError({ stage: "ingest", reason: "Malformed", message })
