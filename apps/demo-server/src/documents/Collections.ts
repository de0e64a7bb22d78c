/** Collections: list, create, remove. */
import { Failure } from "@sluice/core/contract"
import type { RagError } from "@sluice/rag"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { CurrentUser } from "../contract/Access.ts"
import { DEFAULT_COLLECTION } from "../contract/Names.ts"
import { ServerApi } from "../contract/ServerApi.ts"
import { withRagFailures } from "../libraries/RagFailure.ts"
import { UserLibraries } from "../libraries/UserLibraries.ts"
import type { UserLibrary } from "../libraries/UserLibrary.ts"
import { PageImages } from "./PageImages.ts"

const cannotRemoveDefault = new Failure({
  status: 409,
  message: `The collection "${DEFAULT_COLLECTION}" can't be removed. Remove its documents with DELETE /documents/{id}`,
  code: "always_there",
  param: "name"
})

/** Undefined for a library that needs a rebuild, which can still be listed and removed. */
const ifReadable = <A>(read: Effect.Effect<A, RagError>) =>
  Effect.catchIf(
    read,
    ({ reason }) => reason === "ManifestMismatch",
    () => Effect.succeed(undefined)
  )

const infoOf = Effect.fnUntraced(function* (user: UserLibrary, name: string, create: boolean) {
  const { library } = yield* user.collection(name, create)
  const stats = yield* ifReadable(Effect.flatMap(library, (open) => open.stats))
  return stats === undefined ? { name } : { name, documents: stats.documents, passages: stats.passages }
})

export const CollectionsLayer = HttpApiBuilder.group(
  ServerApi,
  "collections",
  Effect.fn(function* (handlers) {
    const libraries = yield* UserLibraries
    const images = yield* PageImages
    const callersLibrary = Effect.flatMap(CurrentUser, ({ user }) => libraries.of(user))
    return handlers.handleAll({
      collections: Effect.fn("collections.list")(function* () {
        const library = yield* callersLibrary
        const names = new Set([DEFAULT_COLLECTION, ...(yield* library.names)])
        return {
          collections: yield* Effect.forEach([...names].toSorted(), (name) => infoOf(library, name, false))
        }
      }, withRagFailures),
      makeCollection: Effect.fn("collections.make")(function* ({ params }) {
        return yield* infoOf(yield* callersLibrary, params.name, true)
      }, withRagFailures),
      removeCollection: Effect.fn("collections.remove")(function* ({ params: { name } }) {
        if (name === DEFAULT_COLLECTION) return yield* cannotRemoveDefault
        const library = yield* callersLibrary
        const documents = yield* library.collection(name, false).pipe(
          Effect.flatMap(({ library }) => library),
          Effect.flatMap(({ documents }) => documents),
          ifReadable
        )
        yield* library.remove(name)
        yield* Effect.forEach(documents ?? [], ({ sha256 }) => images.remove(sha256), { discard: true })
      }, withRagFailures)
    })
  })
)
