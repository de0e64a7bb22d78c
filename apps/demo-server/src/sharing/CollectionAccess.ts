/** Which user's collection a request means, and whether the caller may use it so. */
import { Failure } from "@sluice/core/contract"
import { type Answer, type LibraryService, RagError, type Retrieval } from "@sluice/rag"
import { Effect, Stream } from "effect"
import { type MemberAccess, parseReference } from "../contract/Names.ts"
import { Members } from "./Members.ts"

/** The same for a collection that is missing and for one that is not shared with the caller. */
export const collectionNotFound = (reference: string) =>
  new RagError({
    stage: "open",
    reason: "NotFound",
    message: `There is no collection "${reference}". GET /collections lists the collections; an upload creates one`,
    document: "collection"
  })

const forbidden = (code: string, message: string) =>
  new Failure({ status: 403, message, code, param: "collection" })

const readOnly = forbidden(
  "read_only",
  "You may only read this collection. Its owner can allow you to add and remove documents"
)
const notOwner = forbidden(
  "not_the_owner",
  "Only the owner of this collection may remove it or change its members"
)

/** `own`: to remove the collection, and to manage its members. */
export type NeededAccess = MemberAccess | "own"

export const makeCollectionAccess = Effect.map(Members, (members) =>
  Effect.fn("CollectionAccess")(function* (user: string, reference: string, needed: NeededAccess) {
    const { name, owner = user } = parseReference(reference)
    if (owner === user) return { name, owner, isShared: false }
    const access = yield* members.access(owner, name, user)
    if (access === undefined) return yield* collectionNotFound(reference)
    if (needed === "own") return yield* notOwner
    if (needed === "write" && access === "read") return yield* readOnly
    return { name, owner, isShared: true }
  })
)

/** A shared library, whose answers name the collection as the caller does. */
export const withReference = (library: LibraryService, collection: string): LibraryService => {
  const rename = <A extends Pick<Answer | Retrieval, "trace">>(result: A): A => ({
    ...result,
    trace: { ...result.trace, collection }
  })
  return {
    ...library,
    ask: (...given) => Effect.map(library.ask(...given), rename),
    retrieve: (...given) => Effect.map(library.retrieve(...given), rename),
    askEvents: (...given) =>
      Stream.map(library.askEvents(...given), (event) =>
        event.type === "answer" ? { ...event, answer: rename(event.answer) } : event
      )
  }
}
