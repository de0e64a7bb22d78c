/**
 * Generates an image, with a model that answers at once or in two steps: `npx node --conditions=@sluice/source examples/image.ts`.
 *
 * Needs SLUICE_GATEWAY_URL, SLUICE_API_KEY and SLUICE_IMAGE_MODEL (of group I4).
 */
import { Gateway } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { Console, Effect, Stream } from "effect"
import { modelIn, run } from "./running/run.ts"

const program = Effect.gen(function* () {
  const { images } = yield* Gateway
  const model = yield* modelIn("SLUICE_IMAGE_MODEL")
  const prompt = "A canal lock opens at dawn, seen from the towpath"
  const wanted = { group: "I4", model, prompt, size: "2K" } as const
  const answer = yield* images.progress(wanted, { deadline: "5 minutes" }).pipe(
    Stream.tap(({ id, status = "created" }) => Console.log(`${id ?? "image"} ${status}`)),
    Stream.runLast,
    Effect.flatMap(Effect.fromOption)
  )
  for (const { expiresAt, url } of answer.images) {
    yield* Console.log(`${url}, until ${expiresAt && new Date(expiresAt).toISOString()}`)
  }
})

run(Effect.provide(program, GatewayClient.layerConfig()))
// → task-… created
// → task-… in_progress
// → task-… completed
// → https://images.example/2.png, until 20…Z
