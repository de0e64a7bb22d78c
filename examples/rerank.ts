/**
 * Ranks documents by relevance to a question and keeps the best two: `npx node --conditions=@sluice/source examples/rerank.ts`.
 *
 * Needs SLUICE_GATEWAY_URL, SLUICE_API_KEY and SLUICE_RERANK_MODEL.
 */
import { Gateway } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { Console, Effect } from "effect"
import { modelIn, run } from "./running/run.ts"

const documents = [
  "The office sells moorings by the week.",
  "The lower gate is opened when the levels are even.",
  "A lock gate weighs eight tons and is opened by hand."
]

const program = Effect.gen(function* () {
  const gateway = yield* Gateway
  const model = yield* modelIn("SLUICE_RERANK_MODEL")
  const query = "When is the lower gate opened?"
  const { results } = yield* gateway.rerank({ model, query, documents, topN: 2 })
  for (const { index, score } of results) yield* Console.log(`${score.toFixed(2)} ${documents[index]}`)
})

run(Effect.provide(program, GatewayClient.layerConfig()))
// → … The lower gate is opened when the levels are even.
// → … A lock gate weighs eight tons and is opened by hand.
