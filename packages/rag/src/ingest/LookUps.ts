/** Looks up what a collection has of the documents of a stream, in groups: each look-up is a request to the store. */
import { type Duration, Effect, Schedule, Sink, Stream } from "effect"
import type { Collection, StoredDocument } from "../store/PassageIndex.ts"

interface GroupLimits {
  readonly items: number
  /** Limits the memory. */
  readonly bytes: number
  /** An item that comes alone waits this long for others. */
  readonly wait: Duration.Input
}

/** The items in groups, as they arrive. Those that come while a group is processed are the next one. */
export const inGroups = <A, E, R>(
  items: Stream.Stream<A, E, R>,
  sizeOf: (item: A) => Effect.Effect<number>,
  most: GroupLimits
): Stream.Stream<ReadonlyArray<A>, E, R> =>
  items.pipe(
    Stream.aggregateWithin(
      Sink.fold(
        () => ({ items: [] as Array<A>, bytes: 0 }),
        ({ bytes, items }) => items.length < most.items && bytes < most.bytes,
        ({ bytes, items }, item: A) =>
          Effect.map(sizeOf(item), (size) => {
            items.push(item)
            return { items, bytes: bytes + size }
          })
      ),
      Schedule.spaced(most.wait)
    ),
    Stream.map((group) => group.items),
    Stream.filter((group) => group.length > 0)
  )

/** Adds to `stored` what the collection has of documents that are not in it. */
export const lookUp = Effect.fnUntraced(function* (
  ids: ReadonlyArray<string>,
  collection: Collection,
  stored: Map<string, StoredDocument>
) {
  const unknown = new Set(ids.filter((id) => !stored.has(id)))
  for (const document of yield* collection.stored([...unknown])) stored.set(document.info.id, document)
})
