/** All providers of this server, and which of them serves a model. */
import {
  type Embedder,
  GatewayError,
  InvalidRequest,
  NotFound,
  type Reader,
  type Reranker
} from "@sluice/core"
import { layerTransport } from "@sluice/core/client"
import * as Embedded from "@sluice/embedded"
import { layerVision } from "@sluice/embedded/vision"
import { Context, Effect, Layer } from "effect"
import { CircuitBreaker } from "effect/persistence"
import { ServerConfig } from "../Config.ts"
import { FetchImage } from "../media/FetchImage.ts"
import { libraryFile } from "./config/LibraryModels.ts"
import { liveProviders } from "./config/LiveProviders.ts"
import { providersPath } from "./config/ProvidersPath.ts"
import { embedded } from "./embedded/embedded.ts"
import { type Candidate, failover } from "./Failover.ts"
import { HEALTH, makeHealth } from "./Health.ts"
import type { Operation, Operations, Provider } from "./Provider.ts"
import { gatewayError, StartError } from "../StartError.ts"
import { ofGateway, upstream } from "./upstream.ts"

/** Calls to one upstream that may be under way at once: a chat holds its connection as long as it streams. */
const CONNECTIONS = 1024

/** The models of this process, whichever the library's are; what only they need is made with them. */
const withinProcess = Effect.gen(function* () {
  const models = yield* Effect.context<Embedder | Reranker | Reader>()
  const own = (yield* libraryFile) === undefined ? models : yield* Layer.build(Embedded.layer)
  const needs = yield* Layer.build(Layer.mergeAll(layerVision, FetchImage.layer))
  return yield* Effect.provide(embedded, Context.merge(own, needs))
})

/**
 * The providers.
 *
 * **Gotchas.** The list is one whose content changes with the file that it comes from: keep the list, not what is in it.
 */
export class Providers extends Context.Service<Providers, ReadonlyArray<Provider>>()(
  "@sluice/demo-server/Providers"
) {
  /** Those of the file where there is one, else the gateway that is configured, else the models of this process. */
  static readonly layer = Layer.effect(
    Providers,
    Effect.gen(function* () {
      const file = yield* providersPath
      if (file !== undefined) return yield* liveProviders(file, withinProcess)
      const { gateway } = yield* ServerConfig
      if (gateway === undefined) return [yield* withinProcess]
      const provider = yield* upstream(ofGateway(gateway))
      const guard = yield* makeHealth(HEALTH)
      return [{ ...provider, guard: guard(provider.id, gateway.url) }]
    }).pipe(Effect.mapError((error) => (error instanceof StartError ? error : gatewayError(error))))
  ).pipe(Layer.provide([layerTransport({ connections: CONNECTIONS }), CircuitBreaker.layerStoreMemory()]))
}

/** Who may serve a model. */
export const candidatesOf = <Request extends { readonly model: string }, Response>(
  providers: ReadonlyArray<Provider>,
  operation: keyof Operations,
  pick: (operations: Operations) => Operation<Request, Response> | undefined,
  model: string
): ReadonlyArray<Candidate<Request, Response>> =>
  providers.flatMap((provider): ReadonlyArray<Candidate<Request, Response>> => {
    const operate = pick(provider.operations)
    const known = provider.models.find((known) => known.id === model && known.operation === operation)
    return operate !== undefined && (known !== undefined || provider.anyModelOf?.includes(operation) === true)
      ? [{ provider, operate, priority: known?.priority ?? 1, weight: known?.weight ?? 1 }]
      : []
  })

/** The operation that serves a model; the error says which models do, when the caller's does not. */
export const route = <Request extends { readonly model: string }, Response>(
  providers: ReadonlyArray<Provider>,
  operation: keyof Operations,
  pick: (operations: Operations) => Operation<Request, Response> | undefined,
  model: string
): Effect.Effect<Operation<Request, Response>, GatewayError> => {
  const [first, ...more] = candidatesOf(providers, operation, pick, model)
  if (first !== undefined) return failover(operation, [first, ...more])
  const others = providers.flatMap(({ models }) => models)
  const fitting = others.filter((known) => known.operation === operation).map(({ id }) => id)
  const instead = fitting.length === 0 ? "none is served here" : `use ${[...new Set(fitting)].join(" or ")}`
  const elsewhere = others.find((known) => known.id === model)
  return Effect.fail(
    new GatewayError({
      operation,
      model,
      reason:
        elsewhere === undefined
          ? new NotFound({ message: `There is no model \`${model}\`: ${instead}`, code: "model_not_found" })
          : new InvalidRequest({
              message: `The model \`${model}\` does ${elsewhere.operation}, not ${operation}: ${instead}`,
              param: "model"
            })
    })
  )
}
