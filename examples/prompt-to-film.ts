/** From a prompt to a film in a file: `npx node --conditions=@sluice/source examples/prompt-to-film.ts`. */
import { Gateway } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { Console, Effect, Stream } from "effect"
import { modelIn, run } from "./running/run.ts"

const program = Effect.gen(function* () {
  const { images, videos } = yield* Gateway
  const painter = yield* modelIn("SLUICE_IMAGE_MODEL")
  const answer = yield* images.generate({ model: painter, prompt: "A canal lock at dawn" })
  const inputReference = yield* Effect.fromNullishOr(answer.images[0]?.url ?? answer.images[0]?.base64)
  yield* Console.log(`from ${inputReference.slice(0, 60)}`)
  const model = yield* modelIn("SLUICE_IMAGE_TO_VIDEO_MODEL")
  // "The lock opens, the water flows": these models understand Chinese best.
  const film = { group: "image-to-video", model, inputReference } as const
  const last = yield* videos.progress({ ...film, prompt: "船闸打开，水流涌出" }).pipe(
    Stream.tap(({ id, status }) => Console.log(`${id} ${status}`)),
    Stream.runLast,
    Effect.flatMap(Effect.fromOption)
  )
  const { bytes, path } = yield* videos.download(last.id, "film.mp4")
  yield* Console.log(`${path}: ${bytes} bytes`)
})

run(Effect.provide(program, GatewayClient.layerConfig()))
// → from https://images.example/2.png
// → task-… queued
// → task-… in_progress
// → task-… completed
// → film.mp4: … bytes
