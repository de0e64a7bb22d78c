/** The server's status, and the rebuild of a library that was built with another model. */
import { Embedder, Reader, Reranker } from "@sluice/core"
import { DocumentFormats } from "@sluice/rag/formats"
import { Context, Effect, Option, Ref } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { OWNER } from "../accounts/Owner.ts"
import { bearerToken, makeAuthenticator, requireDocuments } from "../accounts/Authenticator.ts"
import { Prices } from "../billing/Prices.ts"
import { OIDC_PATH } from "../contract/Session.ts"
import { CurrentUser } from "../contract/Access.ts"
import { ServedApi } from "../http/ServedApi.ts"
import { CurrentModels, visionOf } from "../providers/CurrentModels.ts"
import { EMBEDDED } from "../providers/ProvidersFile.ts"
import { Providers, unlistedModels } from "../routing/Providers.ts"
import { ServerConfig, VERSION } from "../config/ServerConfig.ts"
import { endWithError, withRagFailures } from "../libraries/RagFailure.ts"
import { makeStorageOf } from "../jobs/Storage.ts"
import { acceptedJob, jobAfter } from "../jobs/JobRoutes.ts"
import { Jobs } from "../jobs/Jobs.ts"
import { UserLibraries } from "../libraries/UserLibraries.ts"

export const StatusLayer = HttpApiBuilder.group(
  ServedApi,
  "status",
  Effect.fn(function* (handlers) {
    const libraries = yield* UserLibraries
    const storageOf = yield* makeStorageOf
    const jobs = yield* Jobs
    const { byKey, byToken, sessionUser } = yield* makeAuthenticator
    /** Undefined without a credential that may read documents. */
    const reader = Effect.gen(function* () {
      const token = bearerToken(yield* HttpServerRequest.HttpServerRequest)
      const identity =
        token === "" ? yield* sessionUser : yield* byKey(token).pipe(Effect.catch(() => byToken(token)))
      return identity && (yield* requireDocuments("read")(identity)).user.id
    }).pipe(Effect.orElseSucceed(() => undefined))
    const current = yield* CurrentModels
    const { identity } = yield* ServerConfig
    const providers = yield* Providers
    const prices = yield* Prices
    const modelsNow = Effect.map(Ref.get(current), (models) => {
      const { context, from } = models
      const vision = visionOf(models)
      return {
        provider: from === undefined ? ("embedded" as const) : ("gateway" as const),
        demo: from === undefined && providers.every(({ id }) => id === EMBEDDED),
        models: {
          embedding: Context.get(context, Embedder).model.id,
          rerank: Context.get(context, Reranker).model.id,
          chat: Context.get(context, Reader).model.id,
          ...(Option.isSome(vision) && { vision: vision.value.model.id })
        }
      }
    })
    const formats = (yield* DocumentFormats).map(({ extensions, id, label }) => ({ id, label, extensions }))
    return handlers.handleAll({
      status: Effect.fn("status")(function* () {
        // Callers see their own library. Others see the state of the owner's, without its counts.
        const known = yield* reader
        const user = known ?? OWNER
        const library = yield* libraries.of(user)
        const storage =
          known === undefined ? undefined : Option.getOrUndefined(yield* Effect.option(storageOf(known)))
        const { documents, message, passages, state } = yield* library.state
        const unlisted = unlistedModels(providers)
        return {
          version: VERSION,
          ...(yield* modelsNow),
          formats,
          ...(identity !== undefined && { signIn: { name: identity.name, path: OIDC_PATH } }),
          ...(unlisted !== "" && { message: unlisted }),
          state,
          ...(known !== undefined && { documents, passages, ...(message !== undefined && { message }) }),
          ...(storage !== undefined && { storage: { used: storage.used(), limit: storage.limit } }),
          // Only the owner's library has the samples.
          questions: user === OWNER ? libraries.questions : []
        }
      }, withRagFailures),
      planRebuild: Effect.fn("planRebuild")(function* () {
        const library = yield* libraries.of((yield* CurrentUser).user)
        // Not billed: timing a model of the server is free.
        const embedder = Context.get((yield* Ref.get(current)).context, Embedder)
        const { free, id } = embedder.model
        const { inputPer1000Tokens: per1000Tokens } = prices.of("embeddings", id)
        const plan = yield* library
          .planRebuild({ timeModel: true, ...(per1000Tokens !== undefined && { per1000Tokens }) })
          .pipe(Effect.provideService(Embedder, embedder))
        return { ...plan, free }
      }, withRagFailures),
      rebuild: Effect.fn("rebuild")(function* ({ headers }) {
        if (jobAfter(headers) !== undefined) return acceptedJob(yield* jobs.rebuild)
        const library = yield* libraries.of((yield* CurrentUser).user)
        return endWithError(library.rebuild)
      })
    })
  })
)
