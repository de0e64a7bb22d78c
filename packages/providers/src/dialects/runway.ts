/** Runway: images and videos, as tasks. */
import { mediaOperation, type MediaValues, oneImage, ratioOrSize } from "../media/MediaRequest.ts"
import { vendorError, idAt, taskOf } from "../media/MediaResponse.ts"
import type { Dialect } from "../protocol/Dialect.ts"
import { jsonAt, textAt } from "../protocol/JsonValues.ts"

const API_VERSION = "2024-11-06"

/** Runway writes pixels as a ratio: `1280:720`. */
const ratioOf = (asked: MediaValues, fallback: string): unknown =>
  asked.width === undefined ? (ratioOrSize(asked) ?? fallback) : `${asked.width}:${asked.height}`

const task = taskOf({
  path: "/v1/tasks",
  id: "id",
  status: "status",
  failure: "failure",
  unexplained: "The task was cancelled",
  code: "failureCode",
  files: ["output"],
  progress: "progress",
  remove: (id) => ({ path: `/v1/tasks/${id}` })
})

export const runway = {
  id: "runway",
  name: "Runway",
  url: "https://api.dev.runwayml.com",
  keyVariable: "RUNWAYML_API_SECRET",
  sign: (key) => ({ authorization: `Bearer ${key}`, "x-runway-version": API_VERSION }),
  operations: {
    images: mediaOperation({
      path: "/v1/text_to_image",
      refuse: (asked) => oneImage("Runway", asked),
      fields: (asked) => ({
        model: asked.model,
        promptText: asked.prompt,
        ratio: ratioOf(asked, "1024:1024"),
        referenceImages: asked.images?.map((uri) => ({ uri }))
      }),
      task
    }),
    videos: mediaOperation({
      path: ({ frame }) => (frame === undefined ? "/v1/text_to_video" : "/v1/image_to_video"),
      fields: (asked) => {
        const hasLinesOnly = asked.ratio === undefined && asked.resolution !== undefined
        return {
          model: asked.model,
          promptText: asked.prompt,
          promptImage: asked.frame,
          ratio: hasLinesOnly ? undefined : ratioOf(asked, "1280:720"),
          resolution: hasLinesOnly ? asked.resolution : undefined,
          duration: asked.seconds
        }
      },
      task
    })
  },
  error: (body) => {
    const message = textAt(body, "error")
    const issue = jsonAt(body, "issues", "0")
    const detail = idAt(issue, "message")
    const text = message === undefined || detail === undefined ? message : `${message}: ${detail}`
    return vendorError(text, idAt(issue, "path", "0"))
  },
  fieldNames: { ratio: "size", promptText: "prompt", promptImage: "input_reference", duration: "seconds" }
} as const satisfies Dialect
