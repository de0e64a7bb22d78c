/** `/v1/videos`: created as a task, watched, downloaded, removed. */
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
import { byContent, byRemoval, serveTask } from "./TaskCall.ts"
import { videoForm } from "./VideoForm.ts"

const otherVariant = new Failure({
  status: 400,
  message: "A video has no variant but `video`: leave `variant` out for the MP4",
  param: "variant",
  retryable: false
})

/** A common client asks for a thumbnail so: the MP4 would be taken for one. */
const isVideo = ({ url }: HttpServerRequest.HttpServerRequest): boolean =>
  (URL.parse(url, "http://here")?.searchParams.get("variant") ?? "video") === "video"

export const VideosLayer = HttpApiBuilder.group(
  ServerApi,
  "videos",
  Effect.fn(function* (handlers) {
    const providers = yield* Providers
    const create = yield* makeModelCall(providers, videosMeter, (operations) => operations.videos, Video)
    const get = yield* serveTask(providers, "video", (tasks) => tasks.video, taskOutcome)
    const content = yield* serveTask(providers, "video", (tasks) => tasks.videoContent, byContent)
    const remove = yield* serveTask(providers, "video", (tasks) => tasks.removeVideo, byRemoval)
    return handlers
      .handleRaw(
        "create",
        // What is asked for once is made and paid for: no end of the server comes between it and its answer.
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
        // What is made already is paid for: it is known by its state alone, which goes with it.
        Effect.as(Effect.andThen(get(id), remove(id)), { id, object: "video.deleted", deleted: true })
      )
  })
)
