/** `POST /v1/images/generations`, and `GET /v1/images/generations/{task_id}` for models that create images as tasks. */
import { Failure, ImageRequest, ImageResponse } from "@sluice/core/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { imagesMeter } from "../billing/Meter.ts"
import { ServedApi } from "../http/ServedApi.ts"
import { Providers } from "../routing/Providers.ts"
import { taskOutcome } from "../routing/ResponseBody.ts"
import { checkImages } from "./RequestImages.ts"
import { type FromParts, handleCreation, mediaForm } from "./MediaForm.ts"
import { makeModelCall } from "./ModelCall.ts"
import { serveTask } from "./TaskCall.ts"

/** Fields that are not strings in JSON. A form has only strings. */
const NUMBERS: ReadonlySet<string> = new Set(["n", "seed", "safety_tolerance"])
const BOOLEANS: ReadonlySet<string> = new Set(["raw", "watermark", "stream"])

const valueOf = (name: string, text: string): unknown => {
  if (NUMBERS.has(name) && /^-?\d{1,15}$/.test(text)) return Number(text)
  return BOOLEANS.has(name) && (text === "true" || text === "false") ? text === "true" : text
}

/** Several parts named `image` or `image[]` are several images. */
const fromParts: FromParts = (parts) => {
  const isImage = (name: string) => name === "image" || name === "image[]"
  const images = parts.flatMap(([name, value]) => (isImage(name) ? [value] : []))
  return Object.fromEntries([
    ...parts.filter(([name]) => !isImage(name)).map(([name, text]) => [name, valueOf(name, text)] as const),
    ...(images.length === 0 ? [] : [["image", images.length === 1 ? images[0] : images] as const])
  ])
}

/** Streams are rejected, because the response would have no events. */
const noStream = new Failure({
  status: 400,
  message: "Images cannot be streamed. Leave out `stream`",
  param: "stream"
})

const imageForm = Effect.filterOrFail(
  mediaForm(ImageRequest, fromParts),
  ({ request: { extra } }) => extra?.["stream"] !== true,
  () => noStream
).pipe(Effect.tap(({ request: { image } }) => checkImages([image].flat(), "image")))

export const ImagesLayer = HttpApiBuilder.group(
  ServedApi,
  "images",
  Effect.fn(function* (handlers) {
    const providers = yield* Providers
    const create = yield* makeModelCall(providers, imagesMeter, ({ images }) => images, ImageResponse)
    const get = yield* serveTask(providers, "image", (tasks) => tasks.image, taskOutcome)
    return handlers
      .handleRaw("create", handleCreation(imageForm, create), { uninterruptible: true })
      .handle("get", ({ params }) => get(params.task_id))
  })
)
