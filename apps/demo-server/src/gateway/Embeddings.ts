/** `POST /v1/embeddings`. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ServerApi } from "../contract/ServerApi.ts"
import { embeddingsMeter } from "../billing/Meter.ts"
import { Providers } from "../routing/Providers.ts"
import { serve } from "./serve.ts"

export const EmbeddingsLayer = HttpApiBuilder.group(
  ServerApi,
  "embeddings",
  Effect.fn(function* (handlers) {
    const embeddings = yield* serve(yield* Providers, embeddingsMeter, (operations) => operations.embeddings)
    return handlers.handle("create", ({ payload }) => embeddings(payload))
  })
)
