/** Image generation by the embedded painter. */
import { validateImageCall, type ImageRequest, type ImageResponse } from "@sluice/core/contract"
import { type GatewayError, type ImageCall, InvalidRequest } from "@sluice/core"
import { type LoadedImage, makeDataUri, mediaTypeOf } from "@sluice/core/media"
import { checkPaint } from "@sluice/embedded/media"
import { Clock, Effect, Result, Schema } from "effect"
import { randomUUID } from "node:crypto"
import { FetchImage, loadReference } from "../media/FetchImage.ts"
import { FILES_PATH } from "../media/FileLinks.ts"
import { MediaFiles } from "../media/MediaFiles.ts"
import type { MediaTask } from "../media/MediaTasks.ts"
import type { Operation, TaskOperation } from "../routing/Provider.ts"
import { callOf, type ImageForm, imageModels, parseForm, toWireNames } from "./ImageModels.ts"
import { checkPrompt, DEFAULT_TOLERANCE, rejectedBy } from "./InvalidRequests.ts"
import { draw, outputFormat, paintRequest, untilShutdown } from "./Painting.ts"
import type { TaskRunner, TaskWork } from "./TaskRunner.ts"

/** The tolerated severity for `moderation`. */
const MODERATION_TOLERANCE = { auto: 2, low: 4 } as const

const DEFAULT_SAFETY_TOLERANCE = 2

const toleranceOf = (call: ImageCall): number => {
  if (call.group === "I1") return MODERATION_TOLERANCE[call.moderation ?? "auto"]
  return call.group === "I5" ? (call.safetyTolerance ?? DEFAULT_SAFETY_TOLERANCE) : DEFAULT_TOLERANCE
}

const referencesOf = ({ image }: ImageRequest): ReadonlyArray<string> =>
  image === undefined ? [] : typeof image === "string" ? [image] : image

const decodeJob = Schema.decodeUnknownEffect(
  Schema.Struct({ call: Schema.Json, references: Schema.Array(Schema.String) })
)

/** Checks a request and loads its reference images. */
const parseRequest = (fetchImage: FetchImage["Service"], request: ImageRequest, origin: string) =>
  Effect.gen(function* () {
    const model = imageModels.find(({ id }) => id === request.model)
    if (model === undefined) return yield* new InvalidRequest({ message: "Not an embedded model" })
    const form = yield* parseForm(request)
    const call = yield* Effect.fromResult(
      Result.mapError(validateImageCall(callOf(model.group, request)), toWireNames)
    )
    yield* checkPrompt(call.prompt, toleranceOf(call))
    const references = yield* Effect.forEach(referencesOf(request), (image) =>
      loadReference(fetchImage, image, "image", origin)
    )
    return { call, form, model, references }
  }).pipe(Effect.mapError(rejectedBy("images", request.model)))

const linksTo = (names: ReadonlyArray<string>, origin: string) =>
  names.map((name) => ({ url: `${origin}${FILES_PATH}${name}` }))

const taskResponse = ({ created, error, id, model, status }: MediaTask): ImageResponse => ({
  id,
  status,
  ...(error !== undefined && { error }),
  extra: { object: "image.task", created: Math.floor(created / 1000), model }
})

const makeTask = (
  { call, form, references }: Effect.Success<ReturnType<typeof parseRequest>>,
  task: Pick<MediaTask, "created" | "model" | "provider" | "user">
): MediaTask => {
  const fields = Object.fromEntries(Object.entries(call).filter(([name]) => name !== "image"))
  return {
    ...task,
    id: `img_${randomUUID()}`,
    kind: "image",
    status: "in_progress",
    progress: 0,
    files: [],
    request: {
      call: fields as Schema.Json,
      // Data URIs, so that the task needs no network.
      references: references.map(({ bytes, format }) => makeDataUri(mediaTypeOf(format), bytes))
    },
    told: { form }
  }
}

/** The operations. `runner` runs the tasks of models that work in two steps. */
export const makeImageOperations = Effect.fnUntraced(function* (provider: string, runner: TaskRunner) {
  const files = yield* MediaFiles
  const fetchImage = yield* FetchImage

  const store = (images: ReadonlyArray<Uint8Array>, call: ImageCall) =>
    Effect.forEach(images, (bytes) => files.put(bytes, outputFormat(call)))

  const encode = Effect.fnUntraced(function* (
    images: ReadonlyArray<Uint8Array>,
    call: ImageCall,
    form: ImageForm,
    origin: string
  ) {
    if (form === "url") return linksTo(yield* store(images, call), origin)
    return images.map((bytes) => ({ [form]: Buffer.from(bytes).toString("base64") }))
  })

  const work: TaskWork = Effect.fnUntraced(function* ({ request, model }) {
    const job = yield* Effect.orDie(decodeJob(request))
    const call = job.call as unknown as ImageCall
    const references: ReadonlyArray<LoadedImage> = yield* Effect.mapError(
      Effect.forEach(job.references, (uri) => loadReference(fetchImage, uri, "image", "")),
      rejectedBy("images", model)
    )
    return yield* store(yield* draw(call, references), call)
  })

  const create: Operation<ImageRequest, ImageResponse> = ({ origin, request, user }) =>
    Effect.gen(function* () {
      const parsed = yield* parseRequest(fetchImage, request, origin)
      const { call, form, model, references } = parsed
      const created = yield* Clock.currentTimeMillis
      if (model.twoSteps) {
        yield* checkPaint(paintRequest(call, references))
        const task = makeTask(parsed, { created, model: model.id, provider, user })
        yield* runner.start(task, work)
        return taskResponse(task)
      }
      const data = yield* encode(yield* untilShutdown(draw(call, references)), call, form, origin)
      return { data, extra: { created: Math.floor(created / 1000), model: model.id } }
    })

  const image: TaskOperation<ImageResponse> = ({ origin, task }) =>
    Effect.gen(function* (): Effect.fn.Return<ImageResponse, GatewayError> {
      const response = taskResponse(task)
      if (task.status !== "completed") return response
      const form = task.told["form"]
      const links = linksTo(task.files, origin)
      if (form !== "b64_json" && form !== "base64_json") return { ...response, data: links }
      // The interface promises links, so Base64 comes in addition to them.
      const data = yield* Effect.forEach(links, (link, position) =>
        Effect.gen(function* () {
          const file = yield* files.find(task.files[position] ?? "")
          if (file === undefined || file === "expired") return link
          const bytes = yield* Effect.orDie(file.read)
          return { ...link, [form]: Buffer.from(bytes).toString("base64") }
        })
      )
      return { ...response, data }
    })

  return { create, image, work }
})
