/** Collections: documents that are asked together, apart from those of other collections. */
import { failures, MalformedRequest } from "@sluice/core/contract"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Access } from "./Access.ts"

/** The collection of whoever names none. It is always there. */
export const DEFAULT_COLLECTION = "default"

/** A name: letters, digits, `-`, `_` and `.`, the first of them a letter or a digit, 64 at most. */
export const CollectionName = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
    message: "a name of 1 to 64 letters, digits, `-`, `_` and `.` that begins with a letter or a digit"
  })
)

/** The counts are absent while it wants a rebuild. */
export const CollectionInfo = Schema.Struct({
  name: Schema.String,
  documents: Schema.optionalKey(Schema.Int),
  passages: Schema.optionalKey(Schema.Int)
})
export type CollectionInfo = typeof CollectionInfo.Type

export class Collections extends HttpApiGroup.make("collections")
  .add(
    /** The caller's own, by name. A collection is there from the first upload into it. */
    HttpApiEndpoint.get("collections", "/collections", {
      success: Schema.Struct({ collections: Schema.Array(CollectionInfo) }),
      error: failures
    }),
    /** Makes one, empty, before its first upload does. One that is there stays as it is. */
    HttpApiEndpoint.put("makeCollection", "/collections/:name", {
      params: { name: CollectionName },
      success: CollectionInfo,
      error: failures
    }),
    /**
     * Removes the caller's collection with all its documents, at once and for good. It costs nothing. What is asked of it
     * at that moment may fail. 409 for `default`, which is always there, and while the library is being rebuilt.
     */
    HttpApiEndpoint.delete("removeCollection", "/collections/:name", {
      params: { name: CollectionName },
      error: failures
    })
  )
  .middleware(Access)
  .middleware(MalformedRequest) {}
