/** `POST /v1/rerank`, and `/v2/rerank` for Cohere's newer clients. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ServerApi } from "../contract/ServerApi.ts"
import { rerankMeter } from "../billing/Meter.ts"
import { Providers } from "../routing/Providers.ts"
import { serve } from "./serve.ts"

export const RerankLayer = HttpApiBuilder.group(
  ServerApi,
  "rerank",
  Effect.fn(function* (handlers) {
    const rerank = yield* serve(yield* Providers, rerankMeter, (operations) => operations.rerank)
    return handlers.handleAll({
      create: ({ payload }) => rerank(payload),
      createV2: ({ payload }) => rerank(payload)
    })
  })
)
