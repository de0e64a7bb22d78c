/** The providers that the configuration asks for. */
import type { Embedder, Reader, Reranker } from "@sluice/core"
import { layerTransport } from "@sluice/core/client"
import * as Embedded from "@sluice/embedded"
import { layerVision } from "@sluice/embedded/vision"
import { Context, Effect, Layer, Struct } from "effect"
import { CircuitBreaker } from "effect/persistence"
import { gatewayError, StartError } from "../config/StartError.ts"
import { makeEmbeddedProvider } from "../embedded/EmbeddedProvider.ts"
import { FetchImage } from "../media/FetchImage.ts"
import { CIRCUIT_DEFAULTS, makeCircuitGuards } from "../routing/ProviderCircuits.ts"
import { Providers } from "../routing/Providers.ts"
import { upstream } from "../routing/UpstreamProvider.ts"
import { modelsFrom } from "./LibraryModels.ts"
import { makePriceWarning } from "./PriceWarning.ts"
import { gatewayUpstream, providersPlace } from "./ProvidersSettings.ts"
import { reloadingProviders } from "./ReloadingProviders.ts"

/** Concurrent calls to one upstream at most. A chat holds its connection as long as it streams. */
const CONNECTIONS = 1024

/** The provider of the embedded models. They serve `/v1` even where the library uses an upstream's models. */
const embeddedProvider = Effect.gen(function* () {
  const models = yield* Effect.context<Embedder | Reranker | Reader>()
  const own = (yield* modelsFrom) === undefined ? models : yield* Layer.build(Embedded.layer)
  const needs = yield* Layer.build(Layer.mergeAll(layerVision, FetchImage.layer))
  return yield* Effect.provide(makeEmbeddedProvider, Context.merge(own, needs))
})

/** Reads the providers' file now. The error is a sentence. Absent with `SLUICE_GATEWAY_URL`. */
export const ReloadProviders = Context.Reference<Effect.Effect<void, string> | undefined>(
  "@sluice/demo-server/ReloadProviders",
  { defaultValue: () => undefined }
)

/** The configured gateway, or the providers of the file, or the embedded models. */
export const ProvidersLayer = Layer.effectContext(
  Effect.gen(function* () {
    const place = yield* providersPlace
    if (typeof place === "string") {
      const { providers, reload } = yield* reloadingProviders(place, embeddedProvider)
      return Context.make(Providers, providers).pipe(Context.add(ReloadProviders, reload))
    }
    const served = Struct.pick(place.models, ["embedding", "rerank", "chat"])
    const provider = yield* upstream(gatewayUpstream(place, served))
    const guard = yield* makeCircuitGuards(CIRCUIT_DEFAULTS)
    yield* (yield* makePriceWarning)([provider])
    return Context.make(Providers, [{ ...provider, guard: guard(provider.id, place.url) }])
  }).pipe(Effect.mapError((error) => (error instanceof StartError ? error : gatewayError(error))))
).pipe(Layer.provide([layerTransport({ connections: CONNECTIONS }), CircuitBreaker.layerStoreMemory()]))
