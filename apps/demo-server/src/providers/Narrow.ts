/** The models that answer: those of this process, or a gateway's when one is configured. Never one for the other. */
import { GatewayEmbedder, GatewayReader, GatewayReranker, GatewayVision, Vision } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import * as Embedded from "@sluice/embedded"
import { layerVision } from "@sluice/embedded/vision"
import { Context, Effect, Layer } from "effect"
import { type GatewaySettings, ServerConfig } from "../Config.ts"
import { gatewayError } from "../StartError.ts"

/**
 * A gateway's model looks at figures where one is named. Scanned pages and the lines of a picture, with their boxes, are
 * read by OCR in this process all the same: no gateway gives them.
 */
const visionOf = (model: string | undefined) =>
  model === undefined
    ? layerVision
    : Layer.effect(
        Vision,
        Effect.gen(function* () {
          const { read } = Context.get(yield* Layer.build(layerVision), Vision)
          const looking = Context.get(yield* Layer.build(GatewayVision.layer({ model })), Vision)
          return Vision.of({ ...looking, ...(read !== undefined && { read }) })
        })
      )

const ofGateway = ({ url, apiKey, models }: GatewaySettings) =>
  Layer.mergeAll(
    GatewayEmbedder.layer({ model: models.embedding }),
    GatewayReranker.layer({ model: models.rerank }),
    GatewayReader.layer({ model: models.chat }),
    visionOf(models.vision)
  ).pipe(
    Layer.provide(GatewayClient.layer({ baseUrl: url, apiKey })),
    Layer.catchTag("GatewayError", (error) => Layer.effectContext(Effect.fail(gatewayError(error))))
  )

/** Embedder, Reranker, Reader and Vision, as the configuration says. */
export const NarrowLayer = Layer.unwrap(
  Effect.map(ServerConfig, ({ gateway }) =>
    gateway === undefined ? Layer.mergeAll(Embedded.layer, layerVision) : ofGateway(gateway)
  )
)
