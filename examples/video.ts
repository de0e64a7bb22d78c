/**
 * Generates a video with SLUICE_VIDEO_MODEL (of group V-A), prints its progress, and downloads it. With the id of a task,
 * resumes that task: `npx node --conditions=@sluice/source examples/video.ts [id]`.
 */
import { Gateway, videoProgress } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { Console, Effect, Stream } from "effect"
import { modelIn, run } from "./running/run.ts"

const program = Effect.gen(function* () {
  const { videos } = yield* Gateway
  const model = yield* modelIn("SLUICE_VIDEO_MODEL")
  const prompt = "A canal lock opens at dawn, seen from the towpath"
  const wanted = { group: "V-A", model, prompt, seconds: "8", size: "1280x720" } as const
  const id = process.argv[2]
  const last = yield* videos.progress(id === undefined ? wanted : { id }).pipe(
    Stream.tap((video) => Console.log(`${video.id} ${video.status} ${100 * (videoProgress(video) ?? 0)} %`)),
    Stream.runLast,
    Effect.flatMap(Effect.fromOption)
  )
  const { bytes, path } = yield* videos.download(last.id, "lock.mp4")
  yield* Console.log(`${path}: ${bytes} bytes`)
})

run(Effect.provide(program, GatewayClient.layerConfig()))
// → task-… queued 0 %
// → task-… in_progress …
// → task-… completed 100 %
// → lock.mp4: … bytes
