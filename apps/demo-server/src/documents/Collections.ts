/** Which collections there are. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Visitor } from "../contract/Access.ts"
import { DEFAULT_COLLECTION } from "../contract/Collections.ts"
import { ServerApi } from "../contract/ServerApi.ts"
import { ragFailure } from "./RagFailure.ts"
import { Shelves } from "./Shelves.ts"

export const CollectionsLayer = HttpApiBuilder.group(
  ServerApi,
  "collections",
  Effect.fn(function* (handlers) {
    const shelves = yield* Shelves
    return handlers.handleAll({
      collections: Effect.fn("collections.list")(function* () {
        const shelf = yield* shelves.of((yield* Visitor).user)
        const listed = Effect.gen(function* () {
          const names = new Set([DEFAULT_COLLECTION, ...(yield* shelf.names)])
          return yield* Effect.forEach([...names].toSorted(), (name) =>
            Effect.gen(function* () {
              const { library } = yield* shelf.collection(name, false)
              const { documents, passages } = yield* (yield* library).stats
              return { name, documents, passages }
            }).pipe(
              Effect.catchIf(
                ({ reason }) => reason === "ManifestMismatch",
                () => Effect.succeed({ name })
              )
            )
          )
        })
        return { collections: yield* Effect.mapError(listed, ragFailure) }
      })
    })
  })
)
