/** The models that answer: those of this process, or a gateway's when one is configured. Never one for the other. */
import { GatewayEmbedder, GatewayReader, GatewayReranker } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import * as Embedded from "@sluice/embedded"
import { Effect, Layer } from "effect"
import { type GatewaySettings, ServerConfig } from "../Config.ts"
import { gatewayError } from "../StartError.ts"

const ofGateway = ({ url, apiKey, models }: GatewaySettings) =>
  Layer.mergeAll(
    GatewayEmbedder.layer({ model: models.embedding }),
    GatewayReranker.layer({ model: models.rerank }),
    GatewayReader.layer({ model: models.chat })
  ).pipe(
    Layer.provide(GatewayClient.layer({ baseUrl: url, apiKey })),
    Layer.catchTag("GatewayError", (error) => Layer.effectContext(Effect.fail(gatewayError(error))))
  )

/** Embedder, Reranker and Reader, as the configuration says. */
export const NarrowLayer = Layer.unwrap(
  Effect.map(ServerConfig, ({ gateway }) => (gateway === undefined ? Embedded.layer : ofGateway(gateway)))
)
