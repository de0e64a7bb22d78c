/** Ingests the items of a source as they arrive, and removes what the source no longer has. */
import { Effect, Schedule, Sink, Stream } from "effect"
import { documentId } from "../document/Hash.ts"
import { RagError } from "../document/RagError.ts"
import type { PassageEmbedder } from "../embedding/PassageEmbedder.ts"
import type { Collection, StoredDocument } from "../store/PassageIndex.ts"
import { ingestFiles } from "./Ingest.ts"
import { documentEvent, failedEvent, type IngestEvent } from "./IngestEvents.ts"
import { itemId, type SourceItem, sourceFile } from "./sources/Record.ts"
import { isFolderSource, type SourceFile } from "./sources/Source.ts"

/** A group ends at this size, which limits the memory and the commits, … */
const GROUP_BYTES = 32 * 1024 * 1024
/** … where an item that is read later counts as this much, … */
const LAZY_BYTES = 32 * 1024
/** … or after this time, so that a slow source delays no document that it has given. */
const GROUP_TIME = "1 second"

const sizeOf = (item: SourceItem<unknown>): number => {
  if ("bytes" in item && item.bytes instanceof Uint8Array) return item.bytes.byteLength
  if ("text" in item && item.text !== undefined) return item.text.length
  return LAZY_BYTES
}

/** The items in groups, as they arrive. The source is not waited for while a group is written. */
export const groupItems = <E, E2, R>(
  items: Stream.Stream<SourceItem<E>, E2, R>
): Stream.Stream<ReadonlyArray<SourceItem<E>>, E2, R> =>
  items.pipe(
    Stream.aggregateWithin(
      Sink.fold(
        () => ({ items: [] as Array<SourceItem<E>>, bytes: 0 }),
        ({ bytes }) => bytes < GROUP_BYTES,
        (group, item: SourceItem<E>) =>
          Effect.succeed({ items: [...group.items, item], bytes: group.bytes + sizeOf(item) })
      ),
      Schedule.spaced(GROUP_TIME)
    ),
    Stream.map((group) => group.items),
    Stream.filter((group) => group.length > 0)
  )

/** Writes a group. The last item of an identifier counts. */
export const writeGroup = <E>(
  items: ReadonlyArray<SourceItem<E>>,
  source: string,
  collection: Collection,
  embedder: PassageEmbedder
): Stream.Stream<IngestEvent, RagError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const latest = new Map(items.map((item) => [itemId(item) ?? item, item]))
      const ids = [...latest.keys()].flatMap((id) => (typeof id === "string" ? [documentId(id)] : []))
      const known = yield* collection.stored(ids)
      const stored = new Map<string, StoredDocument>(known.map((document) => [document.info.id, document]))
      const files: Array<SourceFile> = []
      const refused: Array<IngestEvent> = []
      const removed: Array<StoredDocument> = []
      for (const item of latest.values()) {
        const id = itemId(item) ?? ""
        const before = stored.get(documentId(id))
        if ("removed" in item) {
          if (before?.source === source) removed.push(before)
        } else if (source !== "" && before !== undefined && ![source, ""].includes(before.source)) {
          refused.push(failedEvent(id, ofOtherSource(id, before.source)))
        } else files.push(sourceFile(item, source))
      }
      const remove = Effect.as(
        collection.remove(removed.map(({ info }) => info.id)),
        removed.map(({ info }) => documentEvent(info, "removed"))
      )
      return Stream.fromIterable(refused).pipe(
        Stream.concat(ingestFiles(Stream.fromIterable(files), collection, embedder, stored)),
        Stream.concat(Stream.fromIterableEffect(remove))
      )
    })
  )

/** Removes the documents of a source that it did not give. */
export const removeMissing = Effect.fn("Sync.removeMissing")(function* (
  source: string,
  seen: ReadonlySet<string>,
  collection: Collection
) {
  const missing = (yield* collection.inventory).filter(
    (stored) => stored.source === source && !seen.has(stored.info.id)
  )
  yield* collection.remove(missing.map(({ info }) => info.id))
  return missing.map(({ info }) => documentEvent(info, "removed"))
})

const ofOtherSource = (id: string, source: string): RagError => {
  const message = `${id} belongs to ${isFolderSource(source) ? `the folder ${source}` : `the source ${source.slice(7)}`}. Give the documents of each source identifiers of their own, such as a prefix.`
  return new RagError({ stage: "ingest", reason: "Malformed", message, document: id })
}
