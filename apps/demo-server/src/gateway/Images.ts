/** `POST /v1/images/generations`, and `GET /v1/images/generations/{task_id}` for models that work in two steps. */
import { ImageResponse } from "@sluice/core/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { CurrentCaller } from "../accounts/Caller.ts"
import { ServerApi } from "../contract/ServerApi.ts"
import { imagesMeter } from "../billing/Meter.ts"
import { taskOutcome } from "../routing/ResponseBody.ts"
import { Providers } from "../routing/Providers.ts"
import { imageForm } from "./ImageForm.ts"
import { makeModelCall } from "./ModelCall.ts"
import { serveTask } from "./TaskCall.ts"

export const ImagesLayer = HttpApiBuilder.group(
  ServerApi,
  "images",
  Effect.fn(function* (handlers) {
    const providers = yield* Providers
    const create = yield* makeModelCall(
      providers,
      imagesMeter,
      (operations) => operations.images,
      ImageResponse
    )
    const get = yield* serveTask(providers, "image", (tasks) => tasks.image, taskOutcome)
    return handlers
      .handleRaw(
        "create",
        // An image that is being created is paid for: the end of the server does not interrupt it.
        ({ request: http }) =>
          Effect.gen(function* () {
            const { body, request } = yield* Effect.interruptible(imageForm)
            return yield* create(http, yield* CurrentCaller, request, body)
          }),
        { uninterruptible: true }
      )
      .handle("get", ({ params }) => get(params.task_id))
  })
)
