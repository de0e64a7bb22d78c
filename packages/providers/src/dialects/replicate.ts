/** Replicate: images and videos of any model, as predictions. `owner/name`, or `owner/name:version`. */
import { mediaOperation, type MediaValues } from "../media/MediaRequest.ts"
import { vendorError, idAt, taskOf } from "../media/MediaResponse.ts"
import type { Dialect, Fields } from "../protocol/Dialect.ts"
import { present, textAt } from "../protocol/JsonValues.ts"

const task = taskOf({
  path: "/v1/predictions",
  id: "id",
  status: "status",
  failure: "error",
  unexplained: "The prediction was cancelled",
  files: ["output"],
  remove: (id) => ({ method: "POST", path: `/v1/predictions/${id}/cancel` })
})

/** Models name their inputs alike, but not always: a request may have any of a model's own. */
const prediction = (more: (asked: MediaValues) => Fields) =>
  mediaOperation({
    path: ({ model }) => (model.includes(":") ? "/v1/predictions" : `/v1/models/${model}/predictions`),
    fields: (asked) => ({
      prompt: asked.prompt,
      aspect_ratio: asked.ratio,
      resolution: asked.width === undefined ? asked.resolution : undefined,
      ...more(asked)
    }),
    body: (input, { model }) => present({ version: model.split(":")[1], input }),
    task
  })

export const replicate = {
  id: "replicate",
  name: "Replicate",
  url: "https://api.replicate.com/v1",
  keyVariable: "REPLICATE_API_TOKEN",
  operations: {
    images: prediction(({ images, n }) => ({ image: images?.[0], num_outputs: n })),
    videos: prediction(({ frame, seconds }) => ({ image: frame, duration: seconds }))
  },
  error: (body) => {
    const message = textAt(body, "detail")?.trim().replace(/^- /, "")
    const field = idAt(body, "invalid_fields", "0", "field")?.replace(/^input\./, "")
    return vendorError(message, field)
  },
  fieldNames: { aspect_ratio: "size", resolution: "size", num_outputs: "n", duration: "seconds" }
} as const satisfies Dialect
