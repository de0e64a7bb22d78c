/** Snapshots of a library: tag it, open it as it was, restore it. */
import { Effect } from "effect"
import { requireText } from "../document/Arguments.ts"
import { RagError } from "../document/RagError.ts"
import type { Manifest } from "./Manifest.ts"
import { type Collection, PassageIndex, type Snapshot } from "./PassageIndex.ts"

export interface LibrarySnapshots<Library> {
  /** Keeps the library as it is now under a name, which may be any text. Replaces a snapshot of the same name. */
  readonly tag: (snapshot: string) => Effect.Effect<Snapshot, RagError>
  /** Oldest first. */
  readonly tags: Effect.Effect<ReadonlyArray<Snapshot>, RagError>
  /** Removes a snapshot. The next `maintain` drops what only it used. Fails with `NotFound`. */
  readonly untag: (snapshot: string) => Effect.Effect<void, RagError>
  /** The library as it was, read-only: writes fail with `PermissionDenied`. Fails with `NotFound`. */
  readonly checkout: (snapshot: string) => Effect.Effect<Library, RagError>
  /** Restores the library for all readers at once. Fails with `NotFound`. */
  readonly restore: (snapshot: string) => Effect.Effect<void, RagError>
}

/** `openOver` opens a library over another store. */
export const librarySnapshots = <Library>(
  index: typeof PassageIndex.Service,
  name: string,
  manifest: Manifest,
  openOver: (index: typeof PassageIndex.Service) => Effect.Effect<Library, RagError>
): LibrarySnapshots<Library> => ({
  tag: (snapshot) => Effect.flatMap(snapshotName(snapshot), (valid) => index.tag(name, valid)),
  tags: index.tags(name),
  untag: (snapshot) => Effect.flatMap(snapshotName(snapshot), (valid) => index.untag(name, valid)),
  checkout: (snapshot) =>
    Effect.gen(function* () {
      // Opened once: the name may be given to another snapshot later.
      const collection = yield* index.checkout(name, yield* snapshotName(snapshot), manifest)
      const refuse = () => refuseWrite(snapshot, name)
      return yield* openOver(
        PassageIndex.of({
          ...index,
          open: () => Effect.succeed(collection),
          replace: refuse,
          tag: refuse,
          untag: refuse,
          restore: refuse,
          drop: refuse
        })
      )
    }),
  restore: (snapshot) =>
    Effect.flatMap(snapshotName(snapshot), (valid) => index.restore(name, valid, manifest))
})

export const snapshotName = (snapshot: string): Effect.Effect<string, RagError> =>
  requireText("store", "The name of a snapshot", snapshot)

/**
 * A collection whose writes fail with `PermissionDenied`. So do `inventory` and `stored`, with which an ingest begins: it fails
 * before it embeds anything.
 */
export const readOnly = (snapshot: string, collection: Collection): Collection => {
  const refused = refuseWrite(snapshot, collection.name)
  return {
    ...collection,
    commit: () => refused,
    adopt: () => refused,
    remove: () => refused,
    inventory: refused,
    stored: () => refused,
    settle: refused,
    maintain: refused
  }
}

const refuseWrite = (snapshot: string, collection: string): Effect.Effect<never, RagError> =>
  Effect.suspend(() => {
    const message = `Snapshot "${snapshot}" of collection "${collection}" is read-only. Restore it to continue from there, or write to the present collection.`
    return Effect.fail(new RagError({ stage: "store", reason: "PermissionDenied", message }))
  })
