/** Ingests a source into a collection. */
import { Effect, Predicate, Result, Stream } from "effect"
import { documentId } from "../document/Hash.ts"
import type { RagError } from "../document/RagError.ts"
import type { PassageEmbedder } from "../embedding/PassageEmbedder.ts"
import type { Collection, StoredDocument } from "../store/PassageIndex.ts"
import { ingestFiles } from "./Ingest.ts"
import { type IngestEvent, documentEvent, withReport } from "./IngestEvents.ts"
import { inGroups, lookUp } from "./LookUps.ts"
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
        const known = inGroups(outcomes, bytesOf, LOOK_UP).pipe(
          Stream.tap((group) => {
            const found = group.flatMap((outcome) => (Result.isSuccess(outcome) ? [outcome.success] : []))
            return lookUp(
              found.map(({ path }) => documentId(path)),
              collection,
              stored
            )
          }),
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

/** A request has its files one after the other, and on an object store each look-up takes a tenth of a second. */
const LOOK_UP = { items: 500, bytes: 8 * 1024 * 1024, wait: "20 millis" } as const

const bytesOf = (outcome: Result.Result<SourceFile, unknown>): Effect.Effect<number> =>
  Effect.match(Result.isSuccess(outcome) ? outcome.success.read : Effect.succeed(new Uint8Array()), {
    onFailure: () => 0,
    onSuccess: ({ byteLength }) => byteLength
  })

export const asFolder = (source: string | FolderSource): FolderSource =>
  Predicate.hasProperty(source, "folder") ? source : { folder: source }
