import { apiKey, GatewayEmbedder, GatewayReader, GatewayReranker } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { Effect, Layer } from "effect"
import { embedderLaws, readerLaws, rerankerLaws } from "../laws/models.ts"
import { LoopbackGateway } from "./LoopbackGateway.ts"

const gateway = Layer.unwrap(
  Effect.map(LoopbackGateway, ({ url: baseUrl }) =>
    GatewayClient.layer({ baseUrl, apiKey: apiKey("sk-test") })
  )
).pipe(Layer.provide(LoopbackGateway.layer))

embedderLaws("GatewayEmbedder", Layer.provide(GatewayEmbedder.layer({ model: "e" }), gateway))
rerankerLaws("GatewayReranker", Layer.provide(GatewayReranker.layer({ model: "r" }), gateway))
readerLaws("GatewayReader", Layer.provide(GatewayReader.layer({ model: "c" }), gateway))
