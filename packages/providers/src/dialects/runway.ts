/** Runway: images and videos, as tasks. */
import { vendorError, failedState, idAt, stateOf, textsIn } from "../media/MediaResponse.ts"
import {
  firstFrame,
  linkOrDataUri,
  oneImage,
  ratioOrSize,
  referenceImages,
  secondsOf,
  mediaSize,
  vendorFields
} from "../media/MediaRequest.ts"
import type { Dialect, InterfaceRequest, TaskDialect } from "../protocol/Dialect.ts"
import { jsonAt } from "../text/Values.ts"

const API_VERSION = "2024-11-06"

/** The interface's names of fields in errors. */
const NAMES = { ratio: "size", promptText: "prompt", promptImage: "input_reference", duration: "seconds" }

/** Runway writes pixels as a ratio: `1280:720`. */
const ratioOf = (asked: InterfaceRequest, fallback: string): unknown => {
  const { height, width } = mediaSize(asked)
  return width === undefined ? (ratioOrSize(asked) ?? fallback) : `${width}:${height}`
}

const task: TaskDialect = {
  reference: (body) => idAt(body, "id"),
  status: (id) => ({ path: `/v1/tasks/${id}` }),
  state: (body) => {
    const status = stateOf(jsonAt(body, "status"))
    if (status === "failed") {
      return failedState(jsonAt(body, "failure") ?? "The task was cancelled", jsonAt(body, "failureCode"))
    }
    const progress = jsonAt(body, "progress")
    return {
      status,
      progress: typeof progress === "number" ? Math.round(progress * 100) : undefined,
      files: textsIn(jsonAt(body, "output"))
    }
  },
  remove: (id) => ({ path: `/v1/tasks/${id}` })
}

export const runway = {
  id: "runway",
  name: "Runway",
  url: "https://api.dev.runwayml.com",
  keyVariable: "RUNWAYML_API_SECRET",
  sign: (key) => ({ authorization: `Bearer ${key}`, "x-runway-version": API_VERSION }),
  operations: {
    images: {
      path: "/v1/text_to_image",
      request: (asked) => {
        const images = referenceImages(asked).map((image) => ({ uri: linkOrDataUri(image) }))
        const body = vendorFields(asked, {
          model: asked.model,
          promptText: asked["prompt"],
          ratio: ratioOf(asked, "1024:1024"),
          referenceImages: images.length > 0 ? images : undefined
        })
        return oneImage("Runway", asked, body)
      },
      task
    },
    videos: {
      path: (asked) => (firstFrame(asked) === undefined ? "/v1/text_to_video" : "/v1/image_to_video"),
      request: (asked) => {
        const image = firstFrame(asked)
        const size = mediaSize(asked)
        const hasLinesOnly = size.ratio === undefined && size.resolution !== undefined
        return vendorFields(asked, {
          model: asked.model,
          promptText: asked["prompt"],
          promptImage: image && linkOrDataUri(image),
          ratio: hasLinesOnly ? undefined : ratioOf(asked, "1280:720"),
          resolution: hasLinesOnly ? size.resolution : undefined,
          duration: secondsOf(asked)
        })
      },
      task
    }
  },
  error: (body) => {
    const message = jsonAt(body, "error")
    if (typeof message !== "string") return undefined
    const field = idAt(body, "issues", "0", "path", "0")
    const detail = idAt(body, "issues", "0", "message")
    return vendorError(detail === undefined ? message : `${message}: ${detail}`, field, NAMES)
  }
} as const satisfies Dialect
