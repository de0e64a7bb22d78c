/** Images by the painter of this process. */
import { checkImageCall, type ImageRequest, type ImageResponse, MAX_SEED } from "@sluice/core/contract"
import { type GatewayError, type ImageCall, InvalidRequest } from "@sluice/core"
import { type LoadedImage, makeDataUri, mediaTypeOf } from "@sluice/core/media"
import { checkPaint, paint, paintMany, type PaintRequest } from "@sluice/embedded/media"
import { Clock, Effect, FileSystem, Result, Schema } from "effect"
import { randomInt, randomUUID } from "node:crypto"
import { FetchImage } from "../media/FetchImage.ts"
import { FILES_PATH } from "../media/FilesRoute.ts"
import { MediaFiles } from "../media/MediaFiles.ts"
import type { MediaTask } from "../media/MediaTasks.ts"
import type { Operation, TaskOperation } from "../routing/Provider.ts"
import { callOf, formOf, type ImageForm, imageModels, inWireNames, RAW_MODEL } from "./ImageModels.ts"
import { pixelsOf } from "./ImageSize.ts"
import { refusedPrompt, USUAL_TOLERANCE } from "./Moderation.ts"
import { referenceImage } from "./ReferenceImage.ts"
import { refusing } from "./Refusing.ts"
import type { TaskRunner, Work } from "./TaskRunner.ts"
import { whileServing } from "./WhileServing.ts"

/** What `moderation: "auto"` and `"low"` tolerate: see `Moderation.ts`. */
const TOLERANCES = { auto: 2, low: 4 } as const

const USUAL_SAFETY = 2

const toleranceOf = (call: ImageCall): number => {
  switch (call.group) {
    case "I1":
      return TOLERANCES[call.moderation ?? "auto"]
    case "I5":
      return call.safetyTolerance ?? USUAL_SAFETY
    default:
      return USUAL_TOLERANCE
  }
}

const sourcesOf = ({ image }: ImageRequest): ReadonlyArray<string> =>
  image === undefined ? [] : typeof image === "string" ? [image] : image

const formatOf = (call: ImageCall) => (call.group === "I1" ? (call.outputFormat ?? "png") : "png")

/** What to draw. -1, and none, are a seed of chance. */
const paintingOf = (call: ImageCall, references: ReadonlyArray<LoadedImage>): PaintRequest => {
  const seed = "seed" in call && call.seed !== undefined && call.seed >= 0 ? call.seed : randomInt(MAX_SEED)
  const quality = call.quality === "low" || call.quality === "high" ? call.quality : undefined
  return {
    prompt: call.prompt,
    ...pixelsOf(
      { size: call.size, aspectRatio: "aspectRatio" in call ? call.aspectRatio : undefined },
      references[0]
    ),
    format: formatOf(call),
    seed,
    reference: references.map(({ bytes }) => bytes),
    fidelity: call.group === "I1" ? call.inputFidelity : undefined,
    quality: call.quality === "hd" ? "high" : quality,
    raw: call.group === "I5" ? (call.raw ?? call.model === RAW_MODEL) : false,
    watermark: call.group === "I3" ? (call.watermark ?? true) : call.group === "I4" && call.watermark === true
  }
}

/** A series: each image starts from the one before it, so that they belong together. */
const paintSeries = (painting: PaintRequest, count: number) =>
  Effect.gen(function* () {
    const images: Array<Uint8Array> = []
    for (let position = 0; position < count; position++) {
      const last = images.at(-1)
      images.push(
        yield* paint({
          ...painting,
          seed: (painting.seed ?? 0) + position,
          ...(last !== undefined && { reference: last, fidelity: "high" as const })
        })
      )
    }
    return images as ReadonlyArray<Uint8Array>
  })

const decodeRequest = Schema.decodeUnknownEffect(
  Schema.Struct({ call: Schema.Json, references: Schema.Array(Schema.String) })
)

/** Draws, keeps what was drawn, and answers; `runner` does it later for models of two steps. */
export const images = Effect.fnUntraced(function* (provider: string, runner: TaskRunner) {
  const files = yield* MediaFiles
  const fs = yield* FileSystem.FileSystem
  const fetchImage = yield* FetchImage

  const draw = (call: ImageCall, references: ReadonlyArray<LoadedImage>) => {
    const painting = paintingOf(call, references)
    const count = call.n ?? 1
    const series = call.group === "I4" && call.sequentialImageGeneration === "auto"
    return series ? paintSeries(painting, count) : paintMany(painting, count)
  }

  const checked = Effect.fnUntraced(function* (request: ImageRequest, origin: string) {
    const refuse = refusing("images", request.model)
    const model = imageModels.find(({ id }) => id === request.model)
    if (model === undefined) return yield* refuse(new InvalidRequest({ message: "No model of this process" }))
    const form = formOf(request)
    if (form instanceof InvalidRequest) return yield* refuse(form)
    const call = yield* Effect.fromResult(
      Result.mapError(checkImageCall(callOf(model.group, request)), (reason) => refuse(inWireNames(reason)))
    )
    const refused = refusedPrompt(call.prompt, toleranceOf(call))
    if (refused !== undefined) return yield* refuse(refused)
    const references = yield* Effect.mapError(
      Effect.forEach(sourcesOf(request), (source) => referenceImage(fetchImage, source, "image", origin)),
      refuse
    )
    return { call, form, model, references }
  })

  const keep = (images: ReadonlyArray<Uint8Array>, call: ImageCall) =>
    Effect.forEach(images, (bytes) => files.put(bytes, formatOf(call)))

  const links = (names: ReadonlyArray<string>, origin: string) =>
    names.map((name) => ({ url: `${origin}${FILES_PATH}${name}` }))

  const inForm = Effect.fnUntraced(function* (
    images: ReadonlyArray<Uint8Array>,
    call: ImageCall,
    form: ImageForm,
    origin: string
  ) {
    if (form === "url") return links(yield* keep(images, call), origin)
    return images.map((bytes) => ({ [form]: Buffer.from(bytes).toString("base64") }))
  })

  /** Of a task: the call as it was checked, references as data URIs, which need nobody elsewhere. */
  const work: Work = Effect.fnUntraced(function* ({ request, model }) {
    const { call, references } = yield* Effect.orDie(decodeRequest(request))
    const checked = call as unknown as ImageCall
    const loaded = yield* Effect.mapError(
      Effect.forEach(references, (uri) => referenceImage(fetchImage, uri, "image", "")),
      refusing("images", model)
    )
    return yield* keep(yield* draw(checked, loaded), checked)
  })

  const create: Operation<ImageRequest, ImageResponse> = ({ origin, request, user }) =>
    Effect.gen(function* () {
      const { call, form, model, references } = yield* checked(request, origin)
      const created = yield* Clock.currentTimeMillis
      if (model.twoSteps) {
        yield* checkPaint(paintingOf(call, references))
        const rest = Object.fromEntries(Object.entries(call).filter(([name]) => name !== "image"))
        const task: MediaTask = {
          id: `img_${randomUUID()}`,
          kind: "image",
          user,
          provider,
          model: model.id,
          created,
          status: "in_progress",
          progress: 0,
          files: [],
          request: {
            call: rest as Schema.Json,
            references: references.map(({ bytes, format }) => makeDataUri(mediaTypeOf(format), bytes))
          },
          told: { form }
        }
        yield* runner.start(task, work)
        return answerOf(task)
      }
      const data = yield* inForm(yield* whileServing(draw(call, references)), call, form, origin)
      return { data, extra: { created: Math.floor(created / 1000), model: model.id } }
    })

  const answerOf = ({ created, error, id, model, status }: MediaTask): ImageResponse => ({
    id,
    status,
    ...(error !== undefined && { error }),
    extra: { object: "image.task", created: Math.floor(created / 1000), model }
  })

  const image: TaskOperation<ImageResponse> = ({ origin, task }) =>
    Effect.gen(function* (): Effect.fn.Return<ImageResponse, GatewayError> {
      const answer = answerOf(task)
      if (task.status !== "completed") return answer
      const form = task.told["form"]
      if (form !== "b64_json" && form !== "base64_json") return { ...answer, data: links(task.files, origin) }
      // Whoever asked for bytes gets them beside the links, which the interface promises.
      const data = yield* Effect.forEach(links(task.files, origin), (link, position) =>
        Effect.gen(function* () {
          const file = yield* files.find(task.files[position] ?? "")
          if (file === undefined || file === "expired") return link
          const bytes = yield* Effect.orDie(fs.readFile(file.path))
          return { ...link, [form]: Buffer.from(bytes).toString("base64") }
        })
      )
      return { ...answer, data }
    })

  return { create, image, work }
})
