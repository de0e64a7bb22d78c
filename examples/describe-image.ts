/**
 * Prints the tokens of an image, and asks a model what it shows: `npx node --conditions=@sluice/source examples/describe-image.ts [cat.png]`.
 *
 * Needs SLUICE_GATEWAY_URL, SLUICE_API_KEY and SLUICE_CHAT_MODEL (a model that accepts images).
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Gateway, chatImageTokens, userMessage } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { Console, Effect, Layer } from "effect"
import { join } from "node:path"
import { modelIn, run } from "./running/run.ts"

const program = Effect.gen(function* () {
  const gateway = yield* Gateway
  const model = yield* modelIn("SLUICE_CHAT_MODEL")
  const file = process.argv[2] ?? join(import.meta.dirname, "../docs/page.png")
  const message = yield* userMessage("What does the image show? Answer in one word.", [{ file }], "high")
  yield* Console.log(`${chatImageTokens([message]).most} tokens`)
  const { text } = yield* gateway.chat({ model, messages: [message], maxTokens: 300 })
  yield* Console.log(text)
})

run(Effect.provide(program, Layer.merge(GatewayClient.layerConfig(), NodeFileSystem.layer)))
// → … tokens
// → Red.
