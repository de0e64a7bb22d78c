/**
 * The lists of models. `/v1/models` lists the models that the key may use, and those that answer from the caller's
 * collections. The lists of `/api` come from the upstreams' accounts, or have all models of a provider without an account.
 */
import { Failure } from "@sluice/core/contract"
import type { GatewayError, Model } from "@sluice/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { libraryModel } from "../libraries/LibraryChat.ts"
import { UserLibraries } from "../libraries/UserLibraries.ts"
import { DEFAULT_COLLECTION, referenceOf } from "../contract/Names.ts"
import { Members } from "../sharing/Members.ts"
import { wrapData } from "../contract/Administration.ts"
import { ServedApi } from "../http/ServedApi.ts"
import { CurrentCaller, mayUse } from "../accounts/Caller.ts"
import type { Provider } from "../routing/Provider.ts"
import { Providers } from "../routing/Providers.ts"

const servedBy = ({ id, models }: Provider): ReadonlyArray<Model> =>
  models.map(({ group, id: model, note, operation }) => ({
    id: model,
    object: "model",
    created: 0,
    owned_by: id,
    extra: { operation, ...(group !== undefined && { group }), ...(note !== undefined && { note }) }
  }))

/** The models that answer from the caller's collections; only the default one if the library cannot be opened. */
const makeCollectionModels = Effect.map(Effect.all([UserLibraries, Members]), ([libraries, members]) =>
  Effect.gen(function* () {
    const { documents, user } = yield* CurrentCaller
    if (documents === "none") return []
    const { names } = yield* libraries.of(user)
    const collections = yield* Effect.orElseSucceed(names, (): ReadonlyArray<string> => [])
    const shared = (yield* members.shared(user)).map(({ collection, owner_id }) =>
      referenceOf(collection, owner_id)
    )
    return [...new Set([DEFAULT_COLLECTION, ...collections, ...shared])].map((name): Model => {
      const note = `answers from the documents of the collection ${name}, with citations`
      const extra = { operation: "chat", note }
      return { id: libraryModel(name), object: "model", created: 0, owned_by: "sluice", extra }
    })
  })
)

/** Removes duplicates. The first provider describes a model. */
const union = (lists: ReadonlyArray<ReadonlyArray<Model>>): ReadonlyArray<Model> => {
  const byId = new Map<string, Model>()
  for (const model of lists.flat()) if (!byId.has(model.id)) byId.set(model.id, model)
  return [...byId.values()]
}

const respondWith = (models: Effect.Effect<ReadonlyArray<ReadonlyArray<Model>>, GatewayError>) =>
  models.pipe(
    Effect.map((lists) => wrapData(union(lists))),
    Effect.mapError(({ reason }) => Failure.fromReason(reason))
  )

export const ModelsLayer = HttpApiBuilder.group(
  ServedApi,
  "models",
  Effect.fn(function* (handlers) {
    const providers = yield* Providers
    const collectionModels = yield* makeCollectionModels
    const fromAccounts = (list: "models" | "availableModels") =>
      respondWith(
        Effect.forEach(
          providers,
          (provider) => provider.account?.[list] ?? Effect.succeed(servedBy(provider))
        )
      )
    return handlers.handleAll({
      list: Effect.fn("models.list")(function* () {
        const caller = yield* CurrentCaller
        const all = union([...providers.map(servedBy), yield* collectionModels])
        const data = all.filter(({ id }) => mayUse(caller, id))
        return { object: "list", data }
      }),
      all: () => fromAccounts("models"),
      available: () => fromAccounts("availableModels")
    })
  })
)
