/**
 * Limits its call rate, breaks the circuit after failures, and prints its metrics: `npx node --conditions=@sluice/source examples/resilience.ts`.
 */
import { Gateway, withRetryPolicy } from "@sluice/core"
import { GatewayClient, GatewayMetrics, layerCircuitBreaker, layerRateLimit } from "@sluice/core/client"
import { Console, Effect, Layer, Metric } from "effect"
import { modelIn, run } from "./running/run.ts"

const client = GatewayClient.layerConfig({ attemptTimeout: "20 seconds" }).pipe(
  Layer.provide([layerRateLimit({ limit: 60 }), layerCircuitBreaker({ failures: 5, open: "10 seconds" })])
)

const program = Effect.gen(function* () {
  const gateway = yield* Gateway
  const model = yield* modelIn("SLUICE_RERANK_MODEL")
  const request = { model, query: "Who sells moorings?", documents: ["The office.", "Nobody."] }
  yield* gateway.rerank(request).pipe(withRetryPolicy({ times: 1, reasons: ["RateLimited"] }))
  yield* gateway
    .rerank({ ...request, model: "no-such-model" })
    .pipe(
      Effect.catchReason("GatewayError", "NotFound", ({ message }) => Console.log(`Not found: ${message}`))
    )
  const labels = { "gen_ai.operation.name": "rerank", "gen_ai.request.model": model }
  const { count } = yield* Metric.value(Metric.withAttributes(GatewayMetrics.calls, labels))
  yield* Console.log(`${count} call of ${model}`)
})

run(Effect.provide(program, client))
// → Not found: …
// → 1 call of …
