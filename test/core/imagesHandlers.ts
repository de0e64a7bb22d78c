/** An in-memory server of images: the model `slow` creates tasks, others respond at once. */
import { GatewayApi } from "@sluice/core/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { onePixel } from "./mediaImages.ts"

const base = { id: undefined, status: undefined, error: undefined }
const datum = { url: undefined, b64_json: undefined, base64_json: undefined }

export const ImagesHandlers = HttpApiBuilder.group(GatewayApi, "images", (handlers) =>
  Effect.succeed(
    handlers
      .handle("create", ({ payload: { extra, model, n = 1 } }) =>
        Effect.succeed(
          model === "slow"
            ? { ...base, id: "i/1", status: "queued", data: undefined }
            : {
                ...base,
                data: Array.from({ length: n }, () => ({ ...datum, b64_json: onePixel.png })),
                extra: { created: 7, ...extra }
              }
        )
      )
      .handle("get", ({ params }) =>
        Effect.succeed({
          ...base,
          id: params.task_id,
          status: "completed",
          data: [{ ...datum, url: "https://images.example.com/1.png" }]
        })
      )
  )
)
