/** A collection that is looked at and never changed. */
import { Effect } from "effect"
import type { Collection } from "./PassageIndex.ts"
import { RagError } from "../document/RagError.ts"

/** What would write fails with `PermissionDenied`; so does `inventory`, which writers begin with: nothing is paid for. */
export const readOnly = (snapshot: string, collection: Collection): Collection => {
  const refused = onlyRead(snapshot, collection.name)
  return {
    ...collection,
    commit: () => refused,
    adopt: () => refused,
    remove: () => refused,
    inventory: refused,
    settle: refused,
    maintain: refused
  }
}

/** The failure of whatever would write. */
export const onlyRead = (snapshot: string, collection: string): Effect.Effect<never, RagError> =>
  Effect.suspend(() =>
    Effect.fail(
      new RagError({
        stage: "store",
        reason: "PermissionDenied",
        message: `Snapshot "${snapshot}" of collection "${collection}" is only read. Restore it to go on from there, or write to the collection as it is now.`
      })
    )
  )
