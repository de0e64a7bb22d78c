import { apiKey, GatewayEmbedder, GatewayReader, GatewayReranker, GatewayVision } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { Effect, Layer } from "effect"
import { embedderLaws, readerLaws, rerankerLaws, visionLaws } from "../laws/models.ts"
import { type Behaviour, LoopbackGateway, model } from "./LoopbackGateway.ts"
import { colourModel } from "./colourModel.ts"

const answering = (behaviour: Behaviour) =>
  Layer.unwrap(
    Effect.map(LoopbackGateway, ({ behave, url: baseUrl }) => {
      behave(behaviour)
      return GatewayClient.layer({ baseUrl, apiKey: apiKey("sk-test") })
    })
  ).pipe(Layer.provide(LoopbackGateway.layer))
const gateway = answering(model)

embedderLaws("GatewayEmbedder", Layer.provide(GatewayEmbedder.layer({ model: "e" }), gateway))
rerankerLaws("GatewayReranker", Layer.provide(GatewayReranker.layer({ model: "r" }), gateway))
readerLaws("GatewayReader", Layer.provide(GatewayReader.layer({ model: "c" }), gateway))
visionLaws("GatewayVision", Layer.provide(GatewayVision.layer({ model: "v" }), answering(colourModel)))
