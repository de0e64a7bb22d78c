/** Luma's Dream Machine: images and videos, as tasks. */
import { mediaOperation, type MediaValues, oneImage, ratioOrSize } from "../media/MediaRequest.ts"
import { detailError, taskOf } from "../media/MediaResponse.ts"
import type { Dialect, ErrorFields } from "../protocol/Dialect.ts"

/** Luma fetches images, and takes none in the request. */
const linksOnly = (param: string, images: MediaValues["images"] = []): ErrorFields | undefined =>
  images.every((image) => /^https?:/i.test(image))
    ? undefined
    : { message: "Luma takes images by URL only. Send a public address", param }

const task = taskOf({
  path: "/v1/generations",
  id: "id",
  status: "state",
  failure: "failure_reason",
  files: ["assets.video", "assets.image"],
  remove: (id) => ({ path: `/v1/generations/${id}` })
})

export const luma = {
  id: "luma",
  name: "Luma",
  url: "https://api.lumalabs.ai/dream-machine/v1",
  keyVariable: "LUMAAI_API_KEY",
  operations: {
    images: mediaOperation({
      path: "/v1/generations/image",
      refuse: (asked) => linksOnly("image", asked.images) ?? oneImage("Luma", asked),
      fields: (asked) => ({
        model: asked.model,
        prompt: asked.prompt,
        aspect_ratio: ratioOrSize(asked),
        image_ref: asked.images?.map((url) => ({ url }))
      }),
      task
    }),
    videos: mediaOperation({
      path: "/v1/generations/video",
      refuse: ({ frame }) => linksOnly("input_reference", frame === undefined ? [] : [frame]),
      fields: ({ frame, model, prompt, ratio, resolution, seconds }) => ({
        model,
        prompt,
        aspect_ratio: ratio,
        resolution,
        duration: seconds === undefined ? undefined : `${seconds}s`,
        keyframes: frame && { frame0: { type: "image", url: frame } }
      }),
      task
    })
  },
  error: detailError,
  fieldNames: { aspect_ratio: "size", resolution: "size", duration: "seconds", keyframes: "input_reference" }
} as const satisfies Dialect
