/** The models that answer: those of this process, or a gateway's when one is configured; of this process only what is said. */
import { GatewayEmbedder, GatewayReader, GatewayReranker } from "@sluice/core"
import * as Embedded from "@sluice/embedded"
import { layerVision } from "@sluice/embedded/vision"
import { Effect, Layer } from "effect"
import { type GatewaySettings, ServerConfig } from "../config/ServerConfig.ts"
import { gatewayError } from "../config/StartError.ts"
import { libraryFile, ofLibraryFile } from "./LibraryModels.ts"
import { layerLibraryGateway } from "./LibraryGateway.ts"
import { ofGateway as upstreamOf } from "../routing/UpstreamProvider.ts"
import { lookingBy } from "./Vision.ts"

const ofGateway = (gateway: GatewaySettings) => {
  const { batch, models, prefixes } = gateway
  const upstream = upstreamOf(gateway)
  return Layer.mergeAll(
    GatewayEmbedder.layer({ model: models.embedding, ...(prefixes && { prefixes }) }),
    models.rerank === undefined
      ? said("SLUICE_RERANK_MODEL", "reranks", Embedded.layerReranker)
      : GatewayReranker.layer({ model: models.rerank }),
    models.chat === undefined
      ? said("SLUICE_CHAT_MODEL", "answers", Embedded.layerReader)
      : GatewayReader.layer({ model: models.chat }),
    lookingBy(models.vision)
  ).pipe(
    Layer.provide(layerLibraryGateway(upstream, { batch, timeout: upstream.timeout })),
    Layer.catchTag("GatewayError", (error) => Layer.effectContext(Effect.fail(gatewayError(error))))
  )
}

/** A model of this process in the place of one that was not named. */
const said = <A>(variable: string, does: string, layer: Layer.Layer<A>) =>
  Layer.effectDiscard(Effect.logInfo(`${variable} is not set: the model of this process ${does}`)).pipe(
    Layer.merge(layer)
  )

/** Who answers in place of the models of this process: a gateway's address, or the file that names models; else nobody. */
export const modelsFrom = Effect.gen(function* () {
  const { gateway } = yield* ServerConfig
  return gateway?.url ?? (yield* libraryFile)
})

/** Embedder, Reranker, Reader and Vision, as the configuration says. */
export const NarrowLayer = Layer.unwrap(
  Effect.gen(function* () {
    const { gateway } = yield* ServerConfig
    if (gateway !== undefined) return ofGateway(gateway)
    const file = yield* libraryFile
    return file === undefined ? Layer.mergeAll(Embedded.layer, layerVision) : ofLibraryFile(file)
  })
)
