/** The libraries and documents of whoever makes the request at hand: another's are not there. */
import { Effect } from "effect"
import { Visitor } from "../contract/Access.ts"
import { DEFAULT_COLLECTION } from "../contract/Collections.ts"
import { ragFailure } from "./RagFailure.ts"
import type { Shelves } from "./Shelves.ts"

interface Named {
  readonly collection?: string | null | undefined
}

export const ownDocuments = (shelves: Shelves["Service"]) => {
  const collection = ({ collection }: Named, made: boolean) =>
    Effect.gen(function* () {
      const shelf = yield* shelves.of((yield* Visitor).user)
      return yield* shelf.collection(collection ?? DEFAULT_COLLECTION, made)
    })
  return {
    /** A collection that is not there is made where `made` says so. */
    library: (named: Named, made = false) =>
      Effect.mapError(
        Effect.flatMap(collection(named, made), (own) => own.library),
        ragFailure
      ),
    /** A document as it was read. */
    document: (id: string, named: Named) =>
      Effect.mapError(
        Effect.flatMap(collection(named, false), (own) => own.read(id)),
        ragFailure
      )
  }
}
