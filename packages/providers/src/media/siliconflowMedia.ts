/** SiliconFlow's images, in one call, and videos, as tasks. */
import { mediaOperation, type MediaValues } from "./MediaRequest.ts"
import { imagesResponse, taskOf, textsAt } from "./MediaResponse.ts"

const MAX_IMAGES = 3

/** The vendor requires a size. Videos have these only. */
const IMAGE_SIZE = "1024x1024"
const VIDEO_SIZES: Readonly<Record<string, string>> = {
  "16:9": "1280x720",
  "9:16": "720x1280",
  "1:1": "960x960"
}

/** The length of every video. */
const VIDEO_SECONDS = 5

/** Pixels, or another form of size as it is, so that the vendor refuses it. */
const pixelsOf = ({ height, ratio, size, width }: MediaValues): unknown =>
  width === undefined ? (size ?? ratio) : `${width}x${height}`

const videoSize = (asked: MediaValues): unknown =>
  (asked.width === undefined ? VIDEO_SIZES[asked.ratio ?? ""] : undefined) ??
  pixelsOf(asked) ??
  VIDEO_SIZES["16:9"]

const STATUS = "/v1/video/status"

const task = taskOf({
  path: STATUS,
  id: "requestId",
  status: "status",
  failure: "reason",
  files: ["results.videos.url"]
})

export const siliconflowImages = mediaOperation({
  path: "/v1/images/generations",
  refuse: ({ images = [] }) =>
    images.length <= MAX_IMAGES
      ? undefined
      : { message: `SiliconFlow takes ${MAX_IMAGES} images at most`, param: "image" },
  fields: (asked) => ({
    model: asked.model,
    prompt: asked.prompt,
    // Models that change images have no size.
    image_size: pixelsOf(asked) ?? (asked.images ? undefined : IMAGE_SIZE),
    batch_size: asked.n,
    image: asked.images?.[0],
    image2: asked.images?.[1],
    image3: asked.images?.[2]
  }),
  response: (body) => imagesResponse(textsAt(body, "images.url").map((url) => ({ url })))
})

export const siliconflowVideos = mediaOperation({
  path: "/v1/video/submit",
  refuse: ({ seconds = VIDEO_SECONDS }) =>
    seconds === VIDEO_SECONDS
      ? undefined
      : { message: `SiliconFlow makes videos of ${VIDEO_SECONDS} seconds`, param: "seconds" },
  fields: (asked) => ({
    model: asked.model,
    prompt: asked.prompt,
    image_size: videoSize(asked),
    image: asked.frame
  }),
  task: {
    ...task,
    status: (requestId) => ({ method: "POST", path: STATUS, body: { requestId } }),
    state: (body, reference) => ({ ...task.state(body, reference), seconds: VIDEO_SECONDS })
  }
})
