/** Rebuilds a collection from its stored originals. */
import { isDeepStrictEqual } from "node:util"
import { Effect, Stream } from "effect"
import type { DocumentInfo, Parsed } from "../document/Document.ts"
import { ingestError, RagError } from "../document/RagError.ts"
import type { PassageEmbedder } from "../embedding/PassageEmbedder.ts"
import { DocumentFormats } from "../formats/DocumentFormats.ts"
import { storedFormat } from "../formats/record/Record.ts"
import type { Collection, Replacement, StoredDocument } from "../store/PassageIndex.ts"
import { ingestFiles } from "./Ingest.ts"
import { type IngestEvent, withReport } from "./IngestEvents.ts"
import { decodeParsed } from "./ParsedCodec.ts"
import { byId, isFolderSource, type SourceFile } from "./sources/Source.ts"
import { pictureReader } from "./sources/SourceFiles.ts"

/** Attempts to publish. Writers wait during an attempt, so that failing all of them takes a very slow model. */
const ATTEMPTS = 10

/**
 * Fills a replacement from the originals of the current collection, and publishes it when it is complete. What a rebuild
 * that was killed has written is in it already.
 *
 * **Gotchas.** If one document fails, nothing changes.
 */
export const rebuildFrom = (
  { current, next, publish }: Replacement,
  embedder: PassageEmbedder
): Stream.Stream<IngestEvent, RagError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const documents = current === undefined ? [] : yield* current.inventory
      const stored = yield* resumed(next, documents)
      const write = (from: ReadonlyArray<StoredDocument>) =>
        ingestFiles(
          Stream.fromIterable(current ? from.map((document) => storedFile(current, document)) : []),
          next,
          embedder,
          stored
        ).pipe(Stream.mapEffect(failOnFailure))

      let copied = documents
      /** Copies what others wrote and removed since the last copy. */
      const catchUp = Effect.gen(function* () {
        if (current === undefined) return
        const now = yield* current.inventory
        const [before, after] = [byId(copied), byId(now)]
        const removed = [...before.keys()].filter((id) => !after.has(id))
        yield* next.remove(removed)
        for (const id of removed) stored.delete(id)
        const changed = now.filter((document) => !isDeepStrictEqual(document, before.get(document.info.id)))
        yield* Stream.runDrain(write(changed))
        copied = now
      }).pipe(Effect.withSpan("Rebuild.catchUp"))

      const end = Effect.gen(function* () {
        yield* next.settle
        for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
          // Most is copied before `publish`, in which writers have to wait.
          yield* catchUp
          if (yield* publish(catchUp)) return []
        }
        const message = `The rebuild was not published, because other writers changed the collection during all ${ATTEMPTS} attempts. The collection is unchanged. Run it again when fewer write.`
        return yield* new RagError({ stage: "ingest", reason: "Stale", message })
      })
      return withReport(documents.length, write(documents), end)
    })
  )

/** The documents of an earlier attempt that are still as they were, by identifier. The others are removed. */
const resumed = Effect.fn("Rebuild.resumed")(function* (
  next: Collection,
  documents: ReadonlyArray<StoredDocument>
) {
  const sources = byId(documents)
  const written = yield* next.inventory
  const same = new Map<string, StoredDocument>()
  for (const document of written) {
    const source = sources.get(document.info.id)
    const isSame = source !== undefined && isDeepStrictEqual(originOf(document), originOf(source))
    if (document.isComplete && isSame) same.set(document.info.id, document)
  }
  yield* next.remove(written.flatMap(({ info }) => (same.has(info.id) ? [] : [info.id])))
  return same
})

/** Of a document, what a rebuild does not change. */
const originOf = ({ info, source, version }: StoredDocument) => {
  const { metadata, path, sha256, url } = info
  return { metadata, path, sha256, url, source, version }
}

const storedFile = (collection: Collection, stored: StoredDocument): SourceFile => {
  const { info, pictures, source, version } = stored
  return {
    path: info.path,
    format: storedFormat(info.format),
    source,
    version,
    read: readOriginal(collection, info),
    metadata: Effect.succeed(info.metadata),
    url: Effect.succeed(info.url),
    picture: isFolderSource(source) ? pictureReader(source, info.path) : undefined,
    parsed: storedParse(collection, stored),
    pictures
  }
}

const failOnFailure = (event: IngestEvent): Effect.Effect<IngestEvent, RagError> => {
  if (event.type !== "document" || event.status !== "failed") return Effect.succeed(event)
  const { error: cause, path: document } = event
  const message = `The rebuild stopped at ${document}; the collection is unchanged. ${cause.message}`
  return Effect.fail(ingestError(document, cause.reason, message, cause))
}

/** The stored parse of a format that links to pictures: the pictures may have been deleted since. */
const storedParse = (
  collection: Collection,
  { info, reading }: StoredDocument
): Effect.Effect<Parsed | undefined, RagError> | undefined =>
  reading === undefined
    ? undefined
    : Effect.gen(function* () {
        const format = (yield* DocumentFormats).find(({ id }) => id === info.format)
        const bytes = format?.showsPictures === true ? yield* collection.original(reading) : undefined
        return bytes && (yield* decodeParsed(bytes, info.path, collection.original))
      })

export const readOriginal = (
  collection: Collection,
  info: Pick<DocumentInfo, "sha256" | "path">
): Effect.Effect<Uint8Array, RagError> =>
  Effect.gen(function* () {
    const bytes = yield* collection.original(info.sha256)
    if (bytes !== undefined) return bytes
    const message = `The original of ${info.path} is missing in the store. Remove the document and ingest it again.`
    return yield* new RagError({ stage: "store", reason: "Damaged", message, document: info.path })
  })
