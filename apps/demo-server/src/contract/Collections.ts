/** Collections: documents that are searched together, separately from other collections. */
import { field, MalformedRequest } from "@sluice/core/contract"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Access } from "./Access.ts"
import { CollectionName } from "./Names.ts"

export const CollectionInfo = Schema.Struct({
  name: field("The name of the collection.", Schema.String),
  documents: field("The number of documents. Absent before a rebuild.", Schema.optionalKey(Schema.Int)),
  passages: field("The number of passages. Absent before a rebuild.", Schema.optionalKey(Schema.Int))
})
export type CollectionInfo = typeof CollectionInfo.Type

export class CollectionsGroup extends HttpApiGroup.make("collections")
  .add(
    /** The caller's collections, by name. The first upload into a collection creates it. */
    HttpApiEndpoint.get("collections", "/collections", {
      success: Schema.Struct({
        collections: field("The collections, by name.", Schema.Array(CollectionInfo))
      })
    }),
    /** Creates an empty collection. An existing one stays as it is. */
    HttpApiEndpoint.put("makeCollection", "/collections/:name", {
      params: { name: field("The name of the collection.", CollectionName) },
      success: CollectionInfo
    }),
    /**
     * Removes the caller's collection with all its documents. This can't be undone and costs nothing. Requests that use
     * the collection at that moment may fail. 409 for `default`, and while the library is being rebuilt.
     */
    HttpApiEndpoint.delete("removeCollection", "/collections/:name", {
      params: { name: field("The name of the collection.", CollectionName) }
    })
  )
  .middleware(Access)
  .middleware(MalformedRequest) {}
