/** Collections: documents that are searched together, separately from other collections; and who shares them. */
import { field } from "@sluice/core/contract"
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Access } from "./Access.ts"
import { CollectionName, CollectionReference, MemberAccess, noControls } from "./Names.ts"

export const CollectionInfo = Schema.Struct({
  name: field("The name of the collection; `name@owner` for a shared one.", Schema.String),
  documents: field("The number of documents. Absent before a rebuild.", Schema.optionalKey(Schema.Int)),
  passages: field("The number of passages. Absent before a rebuild.", Schema.optionalKey(Schema.Int)),
  members: field(
    "How many users and groups the caller shares it with. Absent: none.",
    Schema.optionalKey(Schema.Int)
  ),
  shared: field(
    "Who shares it with the caller. Absent for the caller's own.",
    Schema.optionalKey(
      Schema.Struct({
        owner: field("The owner's username.", Schema.String),
        access: field("What the caller may do.", MemberAccess)
      })
    )
  )
})
export type CollectionInfo = typeof CollectionInfo.Type

const memberName = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(100), noControls)

/** Either a user or a group. */
const memberOf = <S extends Schema.Top>(access: S) => {
  const fields = { access: field("`write` may also add and remove documents.", access) }
  return Schema.Union([
    Schema.Struct({ user: field("A username.", memberName), ...fields }),
    Schema.Struct({ group: field("A group of the identity provider.", memberName), ...fields })
  ])
}

/** Who else may use a collection. */
export const MemberList = Schema.Struct({
  members: field("The users, then the groups, by name.", Schema.Array(memberOf(MemberAccess)))
})
export type MemberList = typeof MemberList.Type

export const MemberChanges = Schema.Struct({
  members: field(
    "Members to add or change; `none` removes one. Others stay.",
    Schema.Array(memberOf(Schema.Literals(["read", "write", "none"])))
  )
})
export type MemberChange = (typeof MemberChanges.Type)["members"][number]

const reference = { name: field("The collection; `name@owner` for a shared one.", CollectionReference) }

export class CollectionsGroup extends HttpApiGroup.make("collections")
  .add(
    /** The caller's collections and those that others share with the caller, by name. The first upload into a collection creates it. */
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
    HttpApiEndpoint.delete("removeCollection", "/collections/:name", { params: reference }),
    /** The members of a collection of the caller. */
    HttpApiEndpoint.get("members", "/collections/:name/members", { params: reference, success: MemberList }),
    /**
     * Adds, changes and removes members of a collection of the caller. A removed member's next request fails. Members pay
     * for their questions and uploads; the documents count as the owner's storage. Returns all members.
     */
    HttpApiEndpoint.put("changeMembers", "/collections/:name/members", {
      params: reference,
      payload: MemberChanges,
      success: MemberList
    }).annotate(HttpApi.PayloadParseOptions, { onExcessProperty: "error" })
  )
  .middleware(Access) {}
