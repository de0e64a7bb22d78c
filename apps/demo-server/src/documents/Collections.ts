/** Collections: list, create, remove, and their members. */
import { Failure } from "@sluice/core/contract"
import { Effect, Struct } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { CurrentUser } from "../contract/Access.ts"
import { DEFAULT_COLLECTION, referenceOf } from "../contract/Names.ts"
import { ServedApi } from "../http/ServedApi.ts"
import { withRagFailures } from "../libraries/RagFailure.ts"
import { UserLibraries } from "../libraries/UserLibraries.ts"
import type { UserLibrary } from "../libraries/UserLibrary.ts"
import { collectionNotFound, makeCollectionAccess } from "../sharing/CollectionAccess.ts"
import { Members, type SharedCollection } from "../sharing/Members.ts"
import { PageImages } from "./PageImages.ts"

const cannotRemoveDefault = new Failure({
  status: 409,
  message: `The collection "${DEFAULT_COLLECTION}" can't be removed. Remove its documents with DELETE /documents/{id}`,
  code: "always_there",
  param: "name"
})

/** Undefined if it does not exist. Without counts if it cannot be read: it can still be listed and removed. */
const infoOf = Effect.fnUntraced(
  function* (user: UserLibrary, name: string) {
    const found = yield* user.existing(name)
    return found && { name, ...Struct.pick(yield* found.stats, ["documents", "passages"]) }
  },
  (info, _, name) =>
    info.pipe(
      Effect.tapError(({ message }) =>
        Effect.logWarning(`The documents of ${name} are not counted: ${message}`)
      ),
      Effect.orElseSucceed(() => ({ name }))
    )
)

export const CollectionsLayer = HttpApiBuilder.group(
  ServedApi,
  "collections",
  Effect.fn(function* (handlers) {
    const libraries = yield* UserLibraries
    const images = yield* PageImages
    const members = yield* Members
    const accessTo = yield* makeCollectionAccess
    const callersLibrary = Effect.flatMap(CurrentUser, ({ user }) => libraries.of(user))
    /** A collection that the caller owns. */
    const own = Effect.fnUntraced(function* (reference: string) {
      const found = yield* accessTo((yield* CurrentUser).user, reference, "own")
      const exists =
        found.name === DEFAULT_COLLECTION ||
        (yield* (yield* libraries.of(found.owner)).names).includes(found.name)
      return exists ? found : yield* collectionNotFound(reference)
    })
    /** None if the collection was removed meanwhile. */
    const sharedInfo = Effect.fnUntraced(
      function* (found: SharedCollection) {
        const { access, collection, owner_id, username } = found
        const info = yield* infoOf(yield* libraries.of(owner_id), collection)
        const shared = { owner: username, access }
        return info === undefined ? [] : [{ ...info, name: referenceOf(collection, owner_id), shared }]
      },
      Effect.orElseSucceed(() => [])
    )
    return handlers.handleAll({
      collections: Effect.fn("collections.list")(function* () {
        const { user } = yield* CurrentUser
        const library = yield* libraries.of(user)
        const names = new Set([DEFAULT_COLLECTION, ...(yield* library.names)])
        const counts = yield* members.counts(user)
        const own = yield* Effect.forEach([...names].toSorted(), (name) =>
          Effect.map(infoOf(library, name), (info = { name, documents: 0, passages: 0 }) => {
            const count = counts.get(name)
            return count === undefined ? info : { ...info, members: count }
          })
        )
        const shared = yield* Effect.forEach(yield* members.shared(user), sharedInfo)
        return { collections: [...own, ...shared.flat()] }
      }, withRagFailures),
      makeCollection: Effect.fn("collections.make")(function* ({ params }) {
        const user = yield* callersLibrary
        const { library } = yield* user.collection(params.name, true)
        if (!(yield* user.names).includes(params.name)) yield* library
        return (yield* infoOf(user, params.name)) ?? (yield* collectionNotFound(params.name))
      }, withRagFailures),
      removeCollection: Effect.fn("collections.remove")(function* ({ params }) {
        const { name, owner } = yield* own(params.name)
        if (name === DEFAULT_COLLECTION) return yield* cannotRemoveDefault
        const library = yield* libraries.of(owner)
        const documents = yield* Effect.flatMap(
          library.existing(name),
          (found) => found?.documents ?? Effect.succeed([])
        ).pipe(Effect.orElseSucceed(() => []))
        yield* library.remove(name)
        yield* members.clear(owner, name)
        yield* Effect.forEach(documents, ({ sha256 }) => images.remove(sha256), { discard: true })
      }, withRagFailures),
      members: Effect.fn("collections.members")(function* ({ params }) {
        const { name, owner } = yield* own(params.name)
        return yield* members.list(owner, name)
      }, withRagFailures),
      changeMembers: Effect.fn("collections.changeMembers")(function* ({ params, payload }) {
        const { name, owner } = yield* own(params.name)
        return yield* members.change(owner, name, payload.members)
      }, withRagFailures)
    })
  })
)
