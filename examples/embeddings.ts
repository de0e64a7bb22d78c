/**
 * Embeds texts and prints the one most similar to the first: `npx node --conditions=@sluice/source examples/embeddings.ts`.
 *
 * Needs SLUICE_GATEWAY_URL, SLUICE_API_KEY and SLUICE_EMBEDDING_MODEL.
 */
import { Gateway } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { Console, Effect } from "effect"
import { modelIn, run } from "./running/run.ts"

const input = ["the gates of the lock", "the lock's gates", "fees for mooring", "weather today"]

const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0)
const cosine = (a: Float32Array, b: Float32Array) => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))

const program = Effect.gen(function* () {
  const gateway = yield* Gateway
  const model = yield* modelIn("SLUICE_EMBEDDING_MODEL")
  const { tokens, vectors } = yield* gateway.embeddings({ model, input })
  const [first = Float32Array.of(), ...others] = vectors
  const alike = others.map((vector) => cosine(first, vector))
  yield* Console.log(`${vectors.length} vectors of ${first.length}, ${tokens} tokens`)
  yield* Console.log(`most alike: ${input[1 + alike.indexOf(Math.max(...alike))]}`)
})

run(Effect.provide(program, GatewayClient.layerConfig()))
// → 4 vectors of …, … tokens
// → most alike: the lock's gates
