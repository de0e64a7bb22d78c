/** The items of a source as files to ingest, and the removal of what the source no longer has. */
import { Effect, Stream } from "effect"
import { documentId } from "../document/Hash.ts"
import { ingestError, type RagError } from "../document/RagError.ts"
import type { Collection, StoredDocument } from "../store/PassageIndex.ts"
import type { IngestCollection } from "./Ingest.ts"
import { documentEvent } from "./IngestEvents.ts"
import { inGroups, lookUp } from "./LookUps.ts"
import { itemId, type SourceItem, sourceFile } from "./sources/Record.ts"
import { byId, isFolderSource, type SourceFile } from "./sources/Source.ts"

/** An item that is read later counts as this much. */
const LAZY_BYTES = 32 * 1024

/** A slow source delays no document that it has given for longer. */
const LOOK_UP = { items: Number.POSITIVE_INFINITY, bytes: 32 * 1024 * 1024, wait: "250 millis" } as const

const sizeOf = (item: SourceItem<unknown>): number => {
  if ("bytes" in item && item.bytes instanceof Uint8Array) return item.bytes.byteLength
  if ("text" in item && item.text !== undefined) return item.text.length
  return LAZY_BYTES
}

/**
 * The items as files. What is stored of them is added to `stored`.
 *
 * **Details.** The last item of an identifier counts. A document of another source fails.
 */
export const sourceFiles = <E, E2, R>(
  items: Stream.Stream<SourceItem<E>, E2, R>,
  source: string,
  collection: Effect.Effect<Collection, RagError>,
  stored: Map<string, StoredDocument>
): Stream.Stream<SourceFile, E2 | RagError, R> =>
  inGroups(items, (item) => Effect.succeed(sizeOf(item)), LOOK_UP).pipe(
    Stream.mapEffect((group) =>
      Effect.gen(function* () {
        const latest = new Map(group.map((item) => [itemId(item) ?? item, item]))
        const ids = [...latest.keys()].flatMap((id) => (typeof id === "string" ? [documentId(id)] : []))
        yield* lookUp(ids, yield* collection, stored)
        return [...latest.values()].map((item) => fileOf(item, source, stored))
      })
    ),
    Stream.flattenIterable
  )

const fileOf = <E>(
  item: SourceItem<E>,
  source: string,
  stored: ReadonlyMap<string, StoredDocument>
): SourceFile => {
  const path = itemId(item) ?? ""
  const nothing = { path, source, metadata: Effect.succeed(undefined) }
  if ("removed" in item) return { ...nothing, removed: true, read: Effect.succeed(new Uint8Array()) }
  const before = stored.get(documentId(path))?.source ?? ""
  return source === "" || ["", source].includes(before)
    ? sourceFile(item, source)
    : { ...nothing, read: Effect.fail(ofOtherSource(path, before)) }
}

/**
 * The collection as it is at each write, for an ingest that may take hours: a rebuild may replace it meanwhile, and others may
 * change its documents. Only documents that it `mayWrite` at that moment are written.
 */
export const collectionAtWrites = (
  write: <A>(use: (collection: Collection) => Effect.Effect<A, RagError>) => Effect.Effect<A, RagError>,
  collection: Effect.Effect<Collection, RagError>,
  mayWrite: (id: string) => boolean
): IngestCollection => {
  /** Runs `use` with the documents that it may write, and what is stored of them now. */
  const withStored = <A extends Pick<StoredDocument, "info">>(
    documents: ReadonlyArray<A>,
    use: (
      collection: Collection,
      documents: ReadonlyArray<A>,
      now: ReadonlyMap<string, StoredDocument>
    ) => Effect.Effect<void, RagError>
  ) =>
    documents.length === 0
      ? Effect.void
      : write((latest) => {
          const current = documents.filter(({ info }) => mayWrite(info.id))
          if (current.length === 0) return Effect.void
          const ids = current.map(({ info }) => info.id)
          return Effect.flatMap(latest.stored(ids), (now) => use(latest, current, byId(now)))
        })
  return {
    original: (key, isHash) => Effect.flatMap(collection, ({ original }) => original(key, isHash)),
    keep: (files) => write(({ keep }) => keep(files)),
    remove: (ids) => (ids.length === 0 ? Effect.void : write(({ remove }) => remove(ids.filter(mayWrite)))),
    adopt: (documents) =>
      withStored(documents, ({ adopt }, current, now) =>
        adopt(
          current.flatMap(({ info: { id, metadata, url }, source, version }) => {
            const present = now.get(id)
            if (present === undefined) return []
            const info = { ...present.info, ...(metadata && { metadata }), ...(url !== undefined && { url }) }
            return [{ ...present, info, source, version }]
          })
        )
      ),
    commit: (documents) =>
      withStored(documents, ({ commit }, current, now) =>
        commit(current.map((document) => ({ ...document, replaces: now.get(document.info.id) })))
      )
  }
}

/** Removes the documents of a source that are missing. */
export const removeMissing = Effect.fn("Sync.removeMissing")(function* (
  source: string,
  isMissing: (id: string) => boolean,
  collection: Collection
) {
  const missing = (yield* collection.inventory).filter(
    (stored) => stored.source === source && isMissing(stored.info.id)
  )
  yield* collection.remove(missing.map(({ info }) => info.id))
  return missing.map(({ info }) => documentEvent(info, "removed"))
})

const ofOtherSource = (id: string, source: string): RagError => {
  const message = `${id} belongs to ${isFolderSource(source) ? `the folder ${source}` : `the source ${source.slice(7)}`}. Give the documents of each source identifiers of their own, such as a prefix.`
  return ingestError(id, "Malformed", message)
}
