/**
 * Makes a video, shows how far it is, and downloads it: `node examples/video.ts`.
 *
 * Interrupted or crashed, it goes on with the id that it showed: `node examples/video.ts <id>`.
 * It reads SLUICE_GATEWAY_URL, SLUICE_API_KEY and SLUICE_VIDEO_MODEL (of group V-A).
 */
import { NodeRuntime } from "@effect/platform-node"
import { Gateway, videoProgress } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { Config, Console, Effect, Stream } from "effect"

const program = Effect.gen(function* () {
  const { videos } = yield* Gateway
  const model = yield* Config.String("SLUICE_VIDEO_MODEL")
  const id = process.argv[2]
  const prompt = "A canal lock opens at dawn, seen from the towpath"
  const states =
    id === undefined
      ? videos.progress({ group: "V-A", model, prompt, seconds: "8", size: "1280x720" })
      : videos.progress({ id })
  const last = yield* states.pipe(
    Stream.tap((video) =>
      Console.log(`${video.id} ${video.status} ${Math.round((videoProgress(video) ?? 0) * 100)} %`)
    ),
    Stream.runLast,
    Effect.flatMap(Effect.fromOption)
  )
  const { bytes, path } = yield* videos.download(last.id, "lock.mp4")
  yield* Console.log(`${path}: ${bytes} bytes`)
})

NodeRuntime.runMain(Effect.provide(program, GatewayClient.layerConfig()))
// → task-… queued 0 %
// → task-… in_progress …
// → task-… completed 100 %
// → lock.mp4: … bytes
