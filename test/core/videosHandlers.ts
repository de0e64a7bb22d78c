/** An in-memory server of videos: every task is completed at once. */
import { GatewayApi } from "@sluice/core/contract"
import { Effect, Stream } from "effect"
import { HttpApiBuilder } from "effect/http-api"

/** An MP4 of three boxes: file type, an empty film, and padding. */
export const mp4 = (bytes = 8): Uint8Array => {
  const file = new Uint8Array(16 + 8 + 8 + bytes)
  const view = new DataView(file.buffer)
  view.setUint32(0, 16)
  file.set(new TextEncoder().encode("ftypisom"), 4)
  view.setUint32(16, 8)
  file.set(new TextEncoder().encode("moov"), 20)
  view.setUint32(24, 8 + bytes)
  file.set(new TextEncoder().encode("mdat"), 28)
  return file
}

export const VideosHandlers = HttpApiBuilder.group(GatewayApi, "videos", (handlers) =>
  Effect.succeed(
    handlers
      .handle("create", ({ payload }) =>
        Effect.succeed({
          id: "v/1",
          status: "queued",
          error: undefined,
          extra: { model: payload.model, seconds: payload.seconds ?? null }
        })
      )
      .handle("get", ({ params }) =>
        Effect.succeed({ id: params.id, status: "completed", error: undefined, extra: { progress: 100 } })
      )
      .handle("content", () => Effect.succeed(Stream.make(mp4())))
      .handle("remove", ({ params }) => Effect.succeed({ id: params.id, object: undefined, deleted: true }))
  )
)
