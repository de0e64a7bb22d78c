/** Luma's Dream Machine: images and videos, as tasks. */
import { Effect } from "effect"
import { detailError, failedState, idAt, stateOf, textsIn } from "../media/MediaResponse.ts"
import {
  firstFrame,
  oneImage,
  ratioOrSize,
  referenceImages,
  secondsOf,
  mediaSize,
  vendorFields
} from "../media/MediaRequest.ts"
import type { Dialect, TaskDialect } from "../protocol/Dialect.ts"
import { jsonAt } from "../text/Values.ts"

const NAMES = { aspect_ratio: "size", resolution: "size", duration: "seconds", keyframes: "input_reference" }

const isLink = (image: string) => /^https?:/i.test(image)

/** Luma fetches images, and takes none in the request. */
const linkOnly = (param: string) =>
  Effect.fail({ message: "Luma takes images by URL only. Send a public address", param })

const task: TaskDialect = {
  reference: (body) => idAt(body, "id"),
  status: (id) => ({ path: `/v1/generations/${id}` }),
  state: (body) => {
    const status = stateOf(jsonAt(body, "state"))
    if (status === "failed") return failedState(jsonAt(body, "failure_reason"))
    const assets = jsonAt(body, "assets")
    return { status, files: textsIn(jsonAt(assets, "video") ?? jsonAt(assets, "image")) }
  },
  remove: (id) => ({ path: `/v1/generations/${id}` })
}

export const luma = {
  id: "luma",
  name: "Luma",
  url: "https://api.lumalabs.ai/dream-machine/v1",
  keyVariable: "LUMAAI_API_KEY",
  operations: {
    images: {
      path: "/v1/generations/image",
      request: (asked) => {
        const images = referenceImages(asked)
        if (!images.every(isLink)) return linkOnly("image")
        const body = vendorFields(asked, {
          model: asked.model,
          prompt: asked["prompt"],
          aspect_ratio: ratioOrSize(asked),
          image_ref: images.length === 0 ? undefined : images.map((url) => ({ url }))
        })
        return oneImage("Luma", asked, body)
      },
      task
    },
    videos: {
      path: "/v1/generations/video",
      request: (asked) => {
        const image = firstFrame(asked)
        if (image !== undefined && !isLink(image)) return linkOnly("input_reference")
        const { ratio, resolution } = mediaSize(asked)
        const seconds = secondsOf(asked)
        return vendorFields(asked, {
          model: asked.model,
          prompt: asked["prompt"],
          aspect_ratio: ratio,
          resolution,
          duration: seconds === undefined ? undefined : `${seconds}s`,
          keyframes: image === undefined ? undefined : { frame0: { type: "image", url: image } }
        })
      },
      task
    }
  },
  error: (body) => detailError(body, NAMES)
} as const satisfies Dialect
