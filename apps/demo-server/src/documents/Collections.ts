/** Which collections there are; made, and removed with all that is in them. */
import { Failure } from "@sluice/core/contract"
import type { RagError } from "@sluice/rag"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Visitor } from "../contract/Access.ts"
import { DEFAULT_COLLECTION } from "../contract/Collections.ts"
import { ServerApi } from "../contract/ServerApi.ts"
import { PageImages } from "./PageImages.ts"
import { ragFailure } from "../libraries/RagFailure.ts"
import type { Shelf } from "../libraries/UserLibrary.ts"
import { Shelves } from "../libraries/UserLibraries.ts"

const alwaysThere = new Failure({
  status: 409,
  message: `The collection "${DEFAULT_COLLECTION}" is always there: remove its documents, DELETE /documents/{id}`,
  code: "always_there",
  param: "name",
  retryable: false
})

/** A library that wants a rebuild tells nothing, and may be removed all the same. */
const ifReadable = <A>(read: Effect.Effect<A, RagError>) =>
  Effect.catchIf(
    read,
    ({ reason }) => reason === "ManifestMismatch",
    () => Effect.succeed(undefined)
  )

const infoOf = Effect.fnUntraced(function* (shelf: Shelf, name: string, made: boolean) {
  const { library } = yield* shelf.collection(name, made)
  const stats = yield* ifReadable(Effect.flatMap(library, (open) => open.stats))
  return stats === undefined ? { name } : { name, documents: stats.documents, passages: stats.passages }
})

export const CollectionsLayer = HttpApiBuilder.group(
  ServerApi,
  "collections",
  Effect.fn(function* (handlers) {
    const shelves = yield* Shelves
    const images = yield* PageImages
    const ownShelf = Effect.flatMap(Visitor, ({ user }) => shelves.of(user))
    return handlers.handleAll({
      collections: Effect.fn("collections.list")(function* () {
        const shelf = yield* ownShelf
        const listed = Effect.gen(function* () {
          const names = new Set([DEFAULT_COLLECTION, ...(yield* shelf.names)])
          return yield* Effect.forEach([...names].toSorted(), (name) => infoOf(shelf, name, false))
        })
        return { collections: yield* Effect.mapError(listed, ragFailure) }
      }),
      makeCollection: Effect.fn("collections.make")(function* ({ params }) {
        return yield* Effect.mapError(infoOf(yield* ownShelf, params.name, true), ragFailure)
      }),
      removeCollection: Effect.fn("collections.remove")(function* ({ params: { name } }) {
        if (name === DEFAULT_COLLECTION) return yield* alwaysThere
        const shelf = yield* ownShelf
        const held = yield* shelf.collection(name, false).pipe(
          Effect.flatMap(({ library }) => library),
          Effect.flatMap(({ documents }) => documents),
          ifReadable,
          Effect.mapError(ragFailure)
        )
        yield* Effect.mapError(shelf.remove(name), ragFailure)
        yield* Effect.forEach(held ?? [], ({ sha256 }) => images.forget(sha256), { discard: true })
      })
    })
  })
)
