/** The documents of the caller's collections, and of those that others share with the caller. */
import { Failure } from "@sluice/core/contract"
import { Effect } from "effect"
import { CurrentUser } from "../contract/Access.ts"
import { DEFAULT_COLLECTION, type MemberAccess } from "../contract/Names.ts"
import { makeOpenForUser } from "../libraries/OpenForUser.ts"
import { withReference } from "../sharing/CollectionAccess.ts"

export const notFound = (message: string, param: string) =>
  new Failure({ status: 404, message, code: "not_found", param })

interface CollectionQuery {
  readonly collection?: string | null | undefined
}

/** Each call reads `CurrentUser`. */
export const makeCallerDocuments = Effect.gen(function* () {
  const openForUser = yield* makeOpenForUser
  const open = ({ collection }: CollectionQuery, needed: MemberAccess = "read", create = false) =>
    Effect.gen(function* () {
      const { user } = yield* CurrentUser
      const reference = collection ?? DEFAULT_COLLECTION
      const opened = yield* openForUser(user, reference, needed, create)
      if (!opened.isShared) return opened
      return { ...opened, library: Effect.map(opened.library, (open) => withReference(open, reference)) }
    })
  const document = (id: string, query: CollectionQuery) => Effect.flatMap(open(query), ({ read }) => read(id))
  return {
    /** The collection's library, to read. */
    library: (query: CollectionQuery) => Effect.flatMap(open(query), ({ library }) => library),
    /** The same, to change, with its owner. `create` makes a missing collection of the caller. */
    writable: (query: CollectionQuery, create = false) =>
      Effect.flatMap(open(query, "write", create), ({ library, owner }) =>
        Effect.map(library, (open) => ({ ...open, owner }))
      ),
    remove: (id: string, query: CollectionQuery) =>
      Effect.flatMap(open(query, "write"), ({ removeDocument }) => removeDocument(id)),
    /** A parsed document. */
    document,
    /** A parsed document and one of its pages, counted from 1. */
    page: Effect.fn("CallerDocuments.page")(function* (id: string, number: number, query: CollectionQuery) {
      const { info, parsed } = yield* document(id, query)
      const page = parsed.pages.find((page) => page.number === number)
      if (page === undefined) {
        const has = parsed.pages.length === 0 ? "It has no pages" : `It has pages 1 to ${parsed.pages.length}`
        return yield* notFound(`${info.path} has no page ${number}. ${has}`, "number")
      }
      return { info, parsed, page }
    })
  }
})
