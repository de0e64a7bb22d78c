/** How the server is, and the rebuild that mends a library made with another model. */
import { Embedder, Reader, Reranker } from "@sluice/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ServerConfig } from "../Config.ts"
import { ServerApi } from "../contract/ServerApi.ts"
import { VERSION } from "../Version.ts"
import { endWithError } from "./Events.ts"
import { ragFailure } from "./RagFailure.ts"
import { Shelf } from "./Shelf.ts"

export const StatusLayer = HttpApiBuilder.group(
  ServerApi,
  "status",
  Effect.fn(function* (handlers) {
    const shelf = yield* Shelf
    const { gateway } = yield* ServerConfig
    const models = {
      embedding: (yield* Embedder).model.id,
      rerank: (yield* Reranker).model.id,
      chat: (yield* Reader).model.id
    }
    return handlers.handleAll({
      status: Effect.fn("status")(function* () {
        return {
          version: VERSION,
          provider: gateway === undefined ? ("embedded" as const) : ("gateway" as const),
          models,
          ...(yield* shelf.state),
          questions: shelf.questions
        }
      }, Effect.mapError(ragFailure)),
      rebuild: () => Effect.succeed(endWithError(shelf.rebuild))
    })
  })
)
