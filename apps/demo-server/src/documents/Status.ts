/** How the server is, and the rebuild that mends a library made with another model. */
import { Embedder, Reader, Reranker, Vision } from "@sluice/core"
import { Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { OWNER } from "../accounts/Owner.ts"
import { makePageUser } from "../accounts/PageUser.ts"
import { Visitor } from "../contract/Access.ts"
import { ServerApi } from "../contract/ServerApi.ts"
import { modelsFrom } from "../providers/Models.ts"
import { VERSION } from "../config/Version.ts"
import { endWithError } from "./Events.ts"
import { keepingCaller } from "../libraries/BilledModels.ts"
import { ragFailure } from "../libraries/RagFailure.ts"
import { Shelves } from "../libraries/UserLibraries.ts"

export const StatusLayer = HttpApiBuilder.group(
  ServerApi,
  "status",
  Effect.fn(function* (handlers) {
    const shelves = yield* Shelves
    const pageUser = yield* makePageUser
    const provider = (yield* modelsFrom) === undefined ? ("embedded" as const) : ("gateway" as const)
    const models = {
      embedding: (yield* Embedder).model.id,
      rerank: (yield* Reranker).model.id,
      chat: (yield* Reader).model.id,
      ...Option.match(yield* Effect.serviceOption(Vision), {
        onNone: () => ({}),
        onSome: ({ model }) => ({ vision: model.id })
      })
    }
    return handlers.handleAll({
      status: Effect.fn("status")(function* () {
        // Who is signed in sees their own; anybody else, the owner's.
        const user = (yield* pageUser())?.user.id ?? OWNER
        const shelf = yield* shelves.of(user)
        const state = yield* Effect.mapError(shelf.state, ragFailure)
        return {
          version: VERSION,
          provider,
          models,
          ...state,
          // They are about the samples, which the owner's library begins with.
          questions: user === OWNER ? shelves.questions : []
        }
      }),
      rebuild: Effect.fn("rebuild")(function* () {
        const shelf = yield* shelves.of((yield* Visitor).user)
        return endWithError(yield* keepingCaller(shelf.rebuild))
      })
    })
  })
)
