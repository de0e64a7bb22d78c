/** The libraries and documents of whoever makes the request at hand: another's are not there. */
import { Failure } from "@sluice/core/contract"
import { Effect } from "effect"
import { Visitor } from "../contract/Access.ts"
import { DEFAULT_COLLECTION } from "../contract/Collections.ts"
import { ragFailure } from "../libraries/RagFailure.ts"
import type { Shelves } from "../libraries/UserLibraries.ts"

export const notThere = (message: string, param: string) =>
  new Failure({ status: 404, message, code: "not_found", param, retryable: false })

interface Named {
  readonly collection?: string | null | undefined
}

export const ownDocuments = (shelves: Shelves["Service"]) => {
  const collection = ({ collection }: Named, made: boolean) =>
    Effect.gen(function* () {
      const shelf = yield* shelves.of((yield* Visitor).user)
      return yield* shelf.collection(collection ?? DEFAULT_COLLECTION, made)
    })
  /** A document as it was read. */
  const document = (id: string, named: Named) =>
    Effect.mapError(
      Effect.flatMap(collection(named, false), (own) => own.read(id)),
      ragFailure
    )
  return {
    /** A collection that is not there is made where `made` says so. */
    library: (named: Named, made = false) =>
      Effect.mapError(
        Effect.flatMap(collection(named, made), (own) => own.library),
        ragFailure
      ),
    document,
    /** A document, and one of its pages, counted from 1. */
    page: Effect.fn("OwnDocuments.page")(function* (id: string, number: number, named: Named) {
      const { info, parsed } = yield* document(id, named)
      const page = parsed.pages.find((page) => page.number === number)
      if (page === undefined) {
        const has = parsed.pages.length === 0 ? "no pages" : `pages 1 to ${parsed.pages.length}`
        return yield* notThere(`${info.path} has no page ${number}: it has ${has}`, "number")
      }
      return { info, parsed, page }
    })
  }
}
