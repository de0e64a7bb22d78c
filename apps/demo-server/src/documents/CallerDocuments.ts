/** The caller's own collections and documents. */
import { Failure } from "@sluice/core/contract"
import { Effect } from "effect"
import { CurrentUser } from "../contract/Access.ts"
import { DEFAULT_COLLECTION } from "../contract/Names.ts"
import { UserLibraries } from "../libraries/UserLibraries.ts"

export const notFound = (message: string, param: string) =>
  new Failure({ status: 404, message, code: "not_found", param })

interface CollectionQuery {
  readonly collection?: string | null | undefined
}

/** Each call reads `CurrentUser`. */
export const makeCallerDocuments = Effect.map(UserLibraries, (libraries) => {
  const open = ({ collection }: CollectionQuery, create: boolean) =>
    Effect.gen(function* () {
      const userLibrary = yield* libraries.of((yield* CurrentUser).user)
      return yield* userLibrary.collection(collection ?? DEFAULT_COLLECTION, create)
    })
  const document = (id: string, query: CollectionQuery) =>
    Effect.flatMap(open(query, false), ({ read }) => read(id))
  return {
    /** The collection's library. `create` makes a missing collection. */
    library: (query: CollectionQuery, create = false) =>
      Effect.flatMap(open(query, create), ({ library }) => library),
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
