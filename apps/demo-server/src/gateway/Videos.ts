/** `/v1/videos`: create, get, download, delete. */
import { Failure, Video } from "@sluice/core/contract"
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { CurrentCaller } from "../accounts/Caller.ts"
import { ServerApi } from "../contract/ServerApi.ts"
import { videosMeter } from "../billing/Meter.ts"
import { taskOutcome } from "../routing/ResponseBody.ts"
import { Providers } from "../routing/Providers.ts"
import { makeModelCall } from "./ModelCall.ts"
import { completedByFile, failedByDeletion, serveTask } from "./TaskCall.ts"
import { videoForm } from "./VideoForm.ts"

const otherVariant = new Failure({
  status: 400,
  message: "A video has no variant but `video`: leave `variant` out for the MP4",
  param: "variant"
})

/** Common clients ask for a thumbnail this way: they would take the MP4 for one. */
const isVideo = ({ url }: HttpServerRequest.HttpServerRequest): boolean =>
  (URL.parse(url, "http://here")?.searchParams.get("variant") ?? "video") === "video"

export const VideosLayer = HttpApiBuilder.group(
  ServerApi,
  "videos",
  Effect.fn(function* (handlers) {
    const providers = yield* Providers
    const create = yield* makeModelCall(providers, videosMeter, (operations) => operations.videos, Video)
    const get = yield* serveTask(providers, "video", (tasks) => tasks.video, taskOutcome)
    const content = yield* serveTask(providers, "video", (tasks) => tasks.videoContent, completedByFile)
    const remove = yield* serveTask(providers, "video", (tasks) => tasks.removeVideo, failedByDeletion)
    return handlers
      .handleRaw(
        "create",
        // A video that is being created is paid for: the end of the server does not interrupt it.
        ({ request: http }) =>
          Effect.gen(function* () {
            const { body, request } = yield* Effect.interruptible(videoForm)
            return yield* create(http, yield* CurrentCaller, request, body)
          }),
        { uninterruptible: true }
      )
      .handle("get", ({ params }) => get(params.id))
      .handle("content", ({ params, request }) =>
        isVideo(request) ? content(params.id) : Effect.fail(otherVariant)
      )
      .handle("remove", ({ params: { id } }) =>
        // A completed video is paid for. Its status must be read before it is deleted.
        Effect.as(Effect.andThen(get(id), remove(id)), { id, object: "video.deleted", deleted: true })
      )
  })
)
