/** The server's status, and the rebuild of a library that was built with another model. */
import { Embedder, Reader, Reranker, Vision } from "@sluice/core"
import { DocumentFormats } from "@sluice/rag"
import { Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { OWNER } from "../accounts/Owner.ts"
import { makeAuthenticator } from "../accounts/Authenticator.ts"
import { CurrentUser } from "../contract/Access.ts"
import { ServerApi } from "../contract/ServerApi.ts"
import { modelsFrom } from "../providers/LibraryModels.ts"
import { providersPath } from "../providers/ProvidersSettings.ts"
import { VERSION } from "../config/ServerConfig.ts"
import { withCurrentContext } from "../libraries/BilledModels.ts"
import { endWithError, withRagFailures } from "../libraries/RagFailure.ts"
import { UserLibraries } from "../libraries/UserLibraries.ts"

export const StatusLayer = HttpApiBuilder.group(
  ServerApi,
  "status",
  Effect.fn(function* (handlers) {
    const libraries = yield* UserLibraries
    const { sessionUser } = yield* makeAuthenticator
    const provider = (yield* modelsFrom) === undefined ? ("embedded" as const) : ("gateway" as const)
    const demo = provider === "embedded" && (yield* providersPath) === undefined
    const vision = yield* Effect.serviceOption(Vision)
    const models = {
      embedding: (yield* Embedder).model.id,
      rerank: (yield* Reranker).model.id,
      chat: (yield* Reader).model.id,
      ...(Option.isSome(vision) && { vision: vision.value.model.id })
    }
    const formats = (yield* DocumentFormats).map(({ extensions, id, label }) => ({ id, label, extensions }))
    return handlers.handleAll({
      status: Effect.fn("status")(function* () {
        // Signed-in users see their own library, others the owner's.
        const user = (yield* sessionUser)?.user.id ?? OWNER
        const library = yield* libraries.of(user)
        // Only the owner's library has the samples.
        const questions = user === OWNER ? libraries.questions : []
        return { version: VERSION, provider, demo, models, formats, ...(yield* library.state), questions }
      }, withRagFailures),
      rebuild: Effect.fn("rebuild")(function* () {
        const library = yield* libraries.of((yield* CurrentUser).user)
        return endWithError(yield* withCurrentContext(library.rebuild))
      })
    })
  })
)
