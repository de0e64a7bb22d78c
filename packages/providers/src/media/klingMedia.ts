/** Kling's images and videos, as tasks. */
import { firstFrame, mediaOperation, type MediaValues, ratioOrSize } from "./MediaRequest.ts"
import { taskOf } from "./MediaResponse.ts"

/** A link, or Base64 without the head of a data URI. */
const linkOrBase64 = (image: string | undefined): string | undefined => image?.replace(/^data:[^,]*,/, "")

/** The vendor's words for lines. Others are refused by the vendor. */
const MODES: Readonly<Record<string, string>> = { "720p": "std", "1080p": "pro" }

const modeOf = ({ resolution = "" }: MediaValues): string | undefined =>
  MODES[resolution] ?? (resolution || undefined)

const task = (path: string, files: string) =>
  taskOf({
    path,
    id: "data.task_id",
    status: "data.task_status",
    failure: "data.task_status_msg",
    files: [files],
    seconds: ["data.task_result.videos.0.duration"]
  })

const IMAGES = "/v1/images/generations"
const imageTask = task(IMAGES, "data.task_result.images.url")
const videoTask = task("/v1/videos", "data.task_result.videos.url")

/** Where a video is made, and where its task is. */
const videoKind = (frame: string | undefined): string => (frame === undefined ? "text2video" : "image2video")

export const klingImages = mediaOperation({
  path: IMAGES,
  refuse: ({ images = [] }) =>
    images.length <= 1 ? undefined : { message: "Kling takes one image", param: "image" },
  fields: (asked) => ({
    model_name: asked.model,
    prompt: asked.prompt,
    n: asked.n,
    aspect_ratio: asked.resolution?.endsWith("k") ? asked.ratio : ratioOrSize(asked),
    resolution: asked.resolution?.endsWith("k") ? asked.resolution : undefined,
    image: linkOrBase64(asked.images?.[0])
  }),
  task: imageTask
})

export const klingVideos = mediaOperation({
  path: ({ frame }) => `/v1/videos/${videoKind(frame)}`,
  fields: (asked) => ({
    model_name: asked.model,
    prompt: asked.prompt,
    // A video that begins with an image has its ratio.
    aspect_ratio: asked.frame === undefined ? asked.ratio : undefined,
    mode: modeOf(asked),
    duration: asked.seconds === undefined ? undefined : String(asked.seconds),
    image: linkOrBase64(asked.frame)
  }),
  task: {
    ...videoTask,
    reference: (body, asked) => {
      const id = videoTask.reference(body, asked)
      return id && `${videoKind(firstFrame(asked))}/${id}`
    }
  }
})
