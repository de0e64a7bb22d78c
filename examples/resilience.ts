/**
 * A client that goes easy on its gateway, and counts what it does: `node examples/resilience.ts`.
 *
 * It reads SLUICE_GATEWAY_URL, SLUICE_API_KEY and SLUICE_RERANK_MODEL.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Gateway, withRetryPolicy } from "@sluice/core"
import { GatewayClient, GatewayMetrics, layerCircuitBreaker, layerRateLimit } from "@sluice/core/client"
import { Config, Console, Effect, Layer, Metric } from "effect"

// Sixty attempts a minute; none for ten seconds after five in a row that found no working gateway.
const client = GatewayClient.layerConfig({ attemptTimeout: "20 seconds" }).pipe(
  Layer.provide([layerRateLimit({ limit: 60 }), layerCircuitBreaker({ failures: 5, open: "10 seconds" })])
)

const program = Effect.gen(function* () {
  const gateway = yield* Gateway
  const model = yield* Config.String("SLUICE_RERANK_MODEL")
  const request = { model, query: "Who sells moorings?", documents: ["The office.", "Nobody."] }
  yield* gateway.rerank(request).pipe(withRetryPolicy({ times: 1, reasons: ["RateLimited"] }))
  const unknown = gateway.rerank({ ...request, model: "no-such-model" })
  yield* unknown.pipe(
    Effect.catchReason("GatewayError", "NotFound", ({ message }) => Console.log(`Not found: ${message}`))
  )
  const labels = { "gen_ai.operation.name": "rerank", "gen_ai.request.model": model }
  const { count } = yield* Metric.value(Metric.withAttributes(GatewayMetrics.calls, labels))
  yield* Console.log(`${count} call of ${model}`)
})

NodeRuntime.runMain(Effect.provide(program, client))
// → Not found: …
// → 1 call of …
