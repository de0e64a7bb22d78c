/** A library as it was: kept under a name, opened beside the present one, gone back to. */
import { Effect } from "effect"
import { givenText } from "../document/Given.ts"
import type { Manifest } from "./Manifest.ts"
import { PassageIndex, type Snapshot } from "./PassageIndex.ts"
import type { RagError } from "../document/RagError.ts"
import { onlyRead } from "./ReadOnly.ts"

/** What a library does with its past. */
export interface LibrarySnapshots<Library> {
  /** Keeps the library as it is now under a name, which may be any text; what had that name is forgotten. */
  readonly tag: (snapshot: string) => Effect.Effect<Snapshot, RagError>
  /** Oldest first. */
  readonly tags: Effect.Effect<ReadonlyArray<Snapshot>, RagError>
  /** Forgets a snapshot; the next `maintain` drops what only it kept. Fails with `NotFound`. */
  readonly untag: (snapshot: string) => Effect.Effect<void, RagError>
  /** The library as it was, to be read: what would write fails with `PermissionDenied`. Fails with `NotFound`. */
  readonly checkout: (snapshot: string) => Effect.Effect<Library, RagError>
  /** Makes the library what it was, at once for everybody who reads it. Fails with `NotFound`. */
  readonly restore: (snapshot: string) => Effect.Effect<void, RagError>
}

/** `openOver` opens a library over another store. */
export const librarySnapshots = <Library>(
  index: typeof PassageIndex.Service,
  name: string,
  manifest: Manifest,
  openOver: (index: typeof PassageIndex.Service) => Effect.Effect<Library, RagError>
): LibrarySnapshots<Library> => ({
  tag: (snapshot) => Effect.flatMap(named(snapshot), (snapshot) => index.tag(name, snapshot)),
  tags: index.tags(name),
  untag: (snapshot) => Effect.flatMap(named(snapshot), (snapshot) => index.untag(name, snapshot)),
  checkout: (snapshot) =>
    Effect.gen(function* () {
      // Once: the name may be another snapshot's later.
      const then = yield* index.checkout(name, yield* named(snapshot), manifest)
      return yield* openOver(
        PassageIndex.of({
          ...index,
          open: () => Effect.succeed(then),
          replace: () => onlyRead(snapshot, name),
          tag: () => onlyRead(snapshot, name),
          untag: () => onlyRead(snapshot, name),
          restore: () => onlyRead(snapshot, name),
          drop: () => onlyRead(snapshot, name)
        })
      )
    }),
  restore: (snapshot) =>
    Effect.flatMap(named(snapshot), (snapshot) => index.restore(name, snapshot, manifest))
})

/** The name of a snapshot as it is kept. */
export const named = (snapshot: string): Effect.Effect<string, RagError> =>
  givenText("store", "The name of a snapshot", snapshot)
