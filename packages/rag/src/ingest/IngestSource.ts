/** Ingests a source into a collection. */
import { Effect, Predicate, Result, Schedule, Sink, Stream } from "effect"
import { documentId } from "../document/Hash.ts"
import type { RagError } from "../document/RagError.ts"
import type { PassageEmbedder } from "../embedding/PassageEmbedder.ts"
import type { Collection, StoredDocument } from "../store/PassageIndex.ts"
import { ingestFiles } from "./Ingest.ts"
import { type IngestEvent, documentEvent, withReport } from "./IngestEvents.ts"
import { folderFiles } from "./sources/FolderFiles.ts"
import { byId, type FolderSource, type IngestSource, type SourceFile } from "./sources/Source.ts"
import { listUploads } from "./sources/Uploads.ts"

/** Updates a collection from a source. The last event is `done`. */
export const ingestSource = <E>(
  source: IngestSource<E>,
  collection: Collection,
  embedder: PassageEmbedder
): Stream.Stream<IngestEvent, E | RagError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      if (Predicate.hasProperty(source, "files")) {
        const { count, files } = yield* listUploads(source.files)
        const stored = new Map<string, StoredDocument>()
        // What came before a failure, such as of the connection, is ingested.
        const outcomes = files.pipe(
          Stream.map((file): Result.Result<SourceFile, E> => Result.succeed(file)),
          Stream.catch((error: E) => Stream.succeed(Result.fail(error)))
        )
        const known = Stream.aggregateWithin(outcomes, lookUpGroup<E>(), Schedule.spaced(LOOK_UP_WAIT)).pipe(
          Stream.mapEffect(({ outcomes }) =>
            Effect.as(
              lookUp(
                outcomes.flatMap((outcome) => (Result.isSuccess(outcome) ? [outcome.success] : [])),
                collection,
                stored
              ),
              outcomes
            )
          ),
          Stream.flattenIterable,
          Stream.mapEffect((outcome) => Effect.fromResult(outcome))
        )
        const written = ingestFiles(known, collection, embedder, stored)
        return withReport(count, written, Effect.as(collection.settle, []))
      }
      const stored = byId(yield* collection.inventory)
      const { count, deleted, failed, files } = yield* folderFiles(asFolder(source), stored)
      const found = new Set<string>()
      const written = Stream.tap(ingestFiles(files, collection, embedder, stored), (event) =>
        Effect.sync(() => event.type === "document" && found.add(documentId(event.path)))
      )
      const removeDeleted = Effect.gen(function* () {
        const documents = deleted(found)
        yield* collection.remove(documents.map(({ info }) => info.id))
        return documents.map(({ info }) => documentEvent(info, "removed"))
      })
      return withReport(count, written, Effect.tap(removeDeleted, collection.settle), failed)
    })
  )

/** Files of one look-up at most, … */
const LOOK_UP_FILES = 500
/** … and their bytes, which limits the memory. */
const LOOK_UP_BYTES = 8 * 1024 * 1024
/** A file that comes alone waits this long for others. */
const LOOK_UP_WAIT = "20 millis"

/**
 * Files that are looked up together: a request has one after the other, and on an object store each look-up takes a tenth of a
 * second. Those that come during a look-up are the next group.
 */
const lookUpGroup = <E>() =>
  Sink.fold(
    () => ({ outcomes: [] as ReadonlyArray<Result.Result<SourceFile, E>>, bytes: 0 }),
    ({ bytes, outcomes }) => outcomes.length < LOOK_UP_FILES && bytes < LOOK_UP_BYTES,
    ({ bytes, outcomes }, outcome: Result.Result<SourceFile, E>) =>
      Effect.match(Result.isSuccess(outcome) ? outcome.success.read : Effect.succeed(new Uint8Array()), {
        onFailure: () => ({ outcomes: [...outcomes, outcome], bytes }),
        onSuccess: ({ byteLength }) => ({ outcomes: [...outcomes, outcome], bytes: bytes + byteLength })
      })
  )

/** Adds the documents of some files to `stored`: an upload's cost depends on its files, not on the collection. */
const lookUp = Effect.fnUntraced(function* (
  files: ReadonlyArray<SourceFile>,
  collection: Collection,
  stored: Map<string, StoredDocument>
) {
  const ids = new Set(files.map(({ path }) => documentId(path)))
  for (const document of yield* collection.stored([...ids].filter((id) => !stored.has(id))))
    stored.set(document.info.id, document)
})

export const asFolder = (source: string | FolderSource): FolderSource =>
  Predicate.hasProperty(source, "folder") ? source : { folder: source }
