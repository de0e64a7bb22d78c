/** Opens the collection that a user means: an own one, or one that another user shares. */
import { Effect } from "effect"
import type { MemberAccess } from "../contract/Names.ts"
import { makeCollectionAccess } from "../sharing/CollectionAccess.ts"
import { UserLibraries } from "./UserLibraries.ts"

/** Fails if the user may not use the collection so. With `create`, a missing one of the user is made. */
export const makeOpenForUser = Effect.gen(function* () {
  const libraries = yield* UserLibraries
  const accessTo = yield* makeCollectionAccess
  return Effect.fnUntraced(function* (user: string, reference: string, needed: MemberAccess, create = false) {
    const { isShared, name, owner } = yield* accessTo(user, reference, needed)
    const opened = yield* (yield* libraries.of(owner)).collection(name, create && !isShared)
    return { ...opened, isShared, owner }
  })
})
