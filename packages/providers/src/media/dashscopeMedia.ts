/** DashScope's images and videos: Wan as tasks, Qwen-Image in one call. */
import { mediaOperation, type MediaValues } from "./MediaRequest.ts"
import { imagesResponse, taskOf, textsAt } from "./MediaResponse.ts"
import { present } from "../protocol/JsonValues.ts"

/** Models of images that answer at once, and take their input as a chat. */
const AT_ONCE = /^(?:qwen-image|z-image)/

/** Models that change images, other than those. */
const OF_IMAGES = /i2i|edit/

const SERVICES = "/api/v1/services/aigc"

/** `1280*720`, or another form of size as it is. */
const sizeText = ({ height, size, width }: MediaValues): unknown =>
  width === undefined ? size : `${width}*${height}`

const ASYNC = { "x-dashscope-async": "enable" }

const task = taskOf({
  path: "/api/v1/tasks",
  id: "output.task_id",
  status: "output.task_status",
  failure: "output.message",
  unexplained: "The task was cancelled, or is unknown",
  code: "output.code",
  files: ["output.video_url", "output.results.url"],
  seconds: ["usage.duration", "usage.video_duration"]
})

const imagePath = (model: string): string => {
  if (AT_ONCE.test(model)) return "multimodal-generation/generation"
  return OF_IMAGES.test(model) ? "image2image/image-synthesis" : "text2image/image-synthesis"
}

export const dashscopeImages = mediaOperation({
  path: ({ model }) => `${SERVICES}/${imagePath(model)}`,
  headers: ({ model }) => (AT_ONCE.test(model) ? {} : ASYNC),
  fields: (asked) => ({ n: asked.n, size: sizeText(asked) }),
  body: (parameters, { images, model, prompt }) => {
    if (!AT_ONCE.test(model)) return { model, input: { prompt, ...(images && { images }) }, parameters }
    const content = [...(images ?? []).map((image) => ({ image })), { text: prompt }]
    return { model, input: { messages: [{ role: "user", content }] }, parameters }
  },
  response: (body) =>
    imagesResponse(textsAt(body, "output.choices.message.content.image").map((url) => ({ url }))),
  task
})

export const dashscopeVideos = mediaOperation({
  path: `${SERVICES}/video-generation/video-synthesis`,
  headers: () => ASYNC,
  fields: (asked) => {
    // `720P`, for models that animate images.
    const lines = asked.ratio === undefined ? asked.resolution?.toUpperCase() : undefined
    return {
      size: lines === undefined ? sizeText(asked) : undefined,
      resolution: lines,
      duration: asked.seconds
    }
  },
  body: (parameters, { frame, model, prompt }) => ({
    model,
    input: present({ prompt, img_url: frame }),
    parameters
  }),
  task
})
