/** Ingests a source into a collection. */
import { Effect, Predicate, Stream } from "effect"
import { documentId } from "../document/Hash.ts"
import type { RagError } from "../document/RagError.ts"
import type { PassageEmbedder } from "../embedding/PassageEmbedder.ts"
import type { Collection } from "../store/PassageIndex.ts"
import { ingestFiles } from "./Ingest.ts"
import { type IngestEvent, documentEvent, withReport } from "./IngestEvents.ts"
import { folderFiles } from "./sources/FolderFiles.ts"
import { byId, type FolderSource, type IngestSource } from "./sources/Source.ts"
import { listUploads } from "./sources/Uploads.ts"

/** Updates a collection from a source. The last event is `done`. */
export const ingestSource = (
  source: IngestSource,
  collection: Collection,
  embedder: PassageEmbedder
): Stream.Stream<IngestEvent, RagError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const stored = byId(yield* collection.inventory)
      if (Predicate.hasProperty(source, "files")) {
        const { count, files } = yield* listUploads(source.files)
        const written = ingestFiles(files, collection, embedder, stored)
        return withReport(count, written, Effect.as(collection.settle, []))
      }
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

export const asFolder = (source: string | FolderSource): FolderSource =>
  Predicate.hasProperty(source, "folder") ? source : { folder: source }
