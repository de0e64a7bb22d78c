/** Replicate: images and videos of any model, as predictions. `owner/name`, or `owner/name:version`. */
import { vendorError, failedState, idAt, stateOf, textsIn } from "../media/MediaResponse.ts"
import {
  firstFrame,
  linkOrDataUri,
  referenceImages,
  secondsOf,
  mediaSize,
  vendorFields
} from "../media/MediaRequest.ts"
import type { Dialect, Fields, InterfaceRequest, OperationDialect } from "../protocol/Dialect.ts"
import { jsonAt, present } from "../text/Values.ts"

const NAMES = {
  aspect_ratio: "size",
  resolution: "size",
  num_outputs: "n",
  duration: "seconds",
  image: "image"
}

/** Models name their inputs alike, but not always: a request may have any of a model's own. */
const predictionOf = (asked: InterfaceRequest, more: Fields): Fields => {
  const { ratio, resolution } = mediaSize(asked)
  const [, version] = asked.model.split(":")
  const isLines = typeof asked["size"] === "string" && !/[x:*]/.test(asked["size"])
  const input = vendorFields(asked, {
    prompt: asked["prompt"],
    aspect_ratio: ratio,
    resolution: isLines ? resolution : undefined,
    ...more
  })
  return present({ version, input })
}

const prediction = (more: (asked: InterfaceRequest) => Fields): OperationDialect => ({
  path: ({ model }) => (model.includes(":") ? "/v1/predictions" : `/v1/models/${model}/predictions`),
  request: (asked) => predictionOf(asked, more(asked)),
  task: {
    reference: (body) => idAt(body, "id"),
    status: (id) => ({ path: `/v1/predictions/${id}` }),
    state: (body) => {
      const status = stateOf(jsonAt(body, "status"))
      return status === "failed"
        ? failedState(jsonAt(body, "error") ?? "The prediction was cancelled")
        : { status, files: textsIn(jsonAt(body, "output")) }
    },
    remove: (id) => ({ method: "POST", path: `/v1/predictions/${id}/cancel` })
  }
})

export const replicate = {
  id: "replicate",
  name: "Replicate",
  url: "https://api.replicate.com/v1",
  keyVariable: "REPLICATE_API_TOKEN",
  operations: {
    images: prediction((asked) => {
      const [image] = referenceImages(asked).map(linkOrDataUri)
      return { image, num_outputs: asked["n"] }
    }),
    videos: prediction((asked) => {
      const image = firstFrame(asked)
      return { image: image && linkOrDataUri(image), duration: secondsOf(asked) }
    })
  },
  error: (body) => {
    const detail = jsonAt(body, "detail")
    if (typeof detail !== "string") return undefined
    const message = detail.trim().replace(/^- /, "")
    const field = idAt(body, "invalid_fields", "0", "field")?.replace(/^input\./, "")
    return vendorError(message, field, NAMES)
  }
} as const satisfies Dialect
