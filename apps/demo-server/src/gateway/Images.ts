/** `POST /v1/images/generations`, and `GET /v1/images/generations/{task_id}` for models of two steps. */
import { ImageResponse } from "@sluice/core/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ServerApi } from "../contract/ServerApi.ts"
import { imagesMeter } from "../billing/Meter.ts"
import { taskOutcome } from "../routing/ResponseBody.ts"
import { Providers } from "../routing/Providers.ts"
import { imageForm } from "./ImageForm.ts"
import { serve } from "./serve.ts"
import { serveTask } from "./serveTask.ts"

export const ImagesLayer = HttpApiBuilder.group(
  ServerApi,
  "images",
  Effect.fn(function* (handlers) {
    const providers = yield* Providers
    const create = yield* serve(providers, imagesMeter, (operations) => operations.images, ImageResponse)
    const get = yield* serveTask(providers, "image", (tasks) => tasks.image, taskOutcome)
    return handlers
      .handleRaw(
        "create",
        // What is asked for once is made and paid for: no end of the server comes between it and its answer.
        () => Effect.flatMap(Effect.interruptible(imageForm), ({ body, request }) => create(request, body)),
        { uninterruptible: true }
      )
      .handle("get", ({ params }) => get(params.task_id))
  })
)
