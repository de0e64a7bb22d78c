/** The methods of a library that write what a program gives, as it comes. */
import { type Cause, Effect, Predicate, Stream } from "effect"
import { formatValue } from "../document/Arguments.ts"
import { documentId } from "../document/Hash.ts"
import { RagError } from "../document/RagError.ts"
import { ingestFiles } from "../ingest/Ingest.ts"
import { type IngestEvent, withReport } from "../ingest/IngestEvents.ts"
import { itemId, type SourceItem } from "../ingest/sources/Record.ts"
import { sourceName } from "../ingest/sources/Source.ts"
import { makeSourceSyncs, type SourceSync } from "../ingest/SourceSyncs.ts"
import { collectionAtWrites, removeMissing, sourceFiles } from "../ingest/SyncSource.ts"
import type { StoredDocument } from "../store/PassageIndex.ts"
import { type LibraryParts, reportOf } from "./LibraryIngest.ts"
import type { LibraryService } from "./LibraryService.ts"

/** What a program gives, as a stream. */
export const streamOf = <A, E, R>(
  items: Iterable<A> | Stream.Stream<A, E, R>
): Stream.Stream<A, E | RagError, R> => {
  if (Stream.isStream(items)) return items
  if (Predicate.hasProperty(items, Symbol.iterator)) return Stream.fromIterable(items)
  const message = `The documents are ${formatValue(items)}; expected a stream, an array or another iterable.`
  return Stream.fail(new RagError({ stage: "ingest", reason: "Malformed", message }))
}

export const syncMethods = ({
  collection,
  embedder,
  latestCollection,
  withServices,
  writes
}: LibraryParts): Pick<LibraryService, "sync" | "syncEvents" | "upsert"> => {
  const runSync = makeSourceSyncs()
  /** Each write holds a permit of its own: a slow source keeps no rebuild waiting, and continues in the new table. */
  const target = ({ mayWrite, write }: SourceSync) =>
    collectionAtWrites(
      (use) => write(writes.withPermit(Effect.flatMap(latestCollection, use))),
      collection,
      mayWrite
    )
  const writeItems = <E, E2, R>(
    source: string,
    items: Stream.Stream<SourceItem<E>, E2, R>,
    isComplete: boolean
  ): Stream.Stream<IngestEvent, E2 | RagError, R> =>
    runSync(source, isComplete, (sync) => {
      const note = (item: SourceItem<E>) => {
        const id = itemId(item)
        if (id !== undefined) sync.note(documentId(id), "removed" in item)
      }
      // What was given before the source failed is written first.
      let failure: Cause.Cause<E2> | undefined
      const given = items.pipe(
        // What is no item fails as one without a valid identifier.
        Stream.map((item) => (Predicate.isObject(item) ? item : { id: item as never, text: "" })),
        Stream.tap((item) => Effect.sync(() => note(item))),
        Stream.catchCause((cause) => {
          failure = cause
          return Stream.empty
        })
      )
      const stored = new Map<string, StoredDocument>()
      const written = Stream.unwrap(
        Effect.map(Effect.context<R>(), (context) =>
          // The source has the services of its caller, and the ingest those of the library.
          ingestFiles(
            Stream.provideContext(sourceFiles(given, source, latestCollection, stored), context),
            target(sync),
            embedder,
            stored
          ).pipe(Stream.updateContext(withServices))
        )
      ).pipe(
        Stream.concat(
          Stream.suspend(() => (failure === undefined ? Stream.empty : Stream.failCause(failure)))
        )
      )
      const end = Effect.gen(function* () {
        const collection = yield* latestCollection
        const removed = isComplete ? yield* removeMissing(source, sync.isMissing, collection) : []
        yield* collection.settle
        return removed
      }).pipe(writes.withPermit)
      return withReport(undefined, written, end)
    })

  const syncEvents: LibraryService["syncEvents"] = (name, items, { partial = false } = {}) =>
    typeof name === "string" && name !== "" && name.length <= 200
      ? writeItems(sourceName(name), streamOf(items), !partial)
      : Stream.fail(
          new RagError({
            stage: "ingest",
            reason: "Malformed",
            message: "The name of a source is a text of 1 to 200 characters."
          })
        )

  return {
    upsert: (records) =>
      Effect.withSpan(reportOf(writeItems("", streamOf(records), false)), "Library.upsert"),
    sync: (name, items, options) =>
      Effect.withSpan(reportOf(syncEvents(name, items, options)), "Library.sync"),
    syncEvents
  }
}
