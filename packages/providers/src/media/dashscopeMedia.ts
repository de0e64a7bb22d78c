/** DashScope's images and videos: Wan as tasks, Qwen-Image in one call. */
import type { InterfaceRequest, OperationDialect, TaskDialect } from "../protocol/Dialect.ts"
import { failedState, idAt, imagesResponse, stateOf, textsIn, urlsIn } from "./MediaResponse.ts"
import {
  firstFrame,
  linkOrDataUri,
  referenceImages,
  secondsOf,
  mediaSize,
  vendorFields
} from "./MediaRequest.ts"
import { jsonAt, present } from "../text/Values.ts"

/** The interface's names of fields in errors. */
export const DASHSCOPE_NAMES = {
  "parameters.size": "size",
  "parameters.resolution": "size",
  "parameters.n": "n",
  "parameters.duration": "seconds",
  "input.prompt": "prompt",
  "input.img_url": "input_reference"
}

/** Models of images that answer at once, and take their input as a chat. */
const AT_ONCE = /^(?:qwen-image|z-image)/

/** Models that change images, other than those. */
const OF_IMAGES = /i2i|edit/

const SERVICES = "/api/v1/services/aigc"

/** `1280*720`, or another form of size as it is. */
const sizeText = (asked: InterfaceRequest): unknown => {
  const { height, width } = mediaSize(asked)
  return width === undefined ? asked["size"] : `${width}*${height}`
}

const ASYNC = { "x-dashscope-async": "enable" }

const task: TaskDialect = {
  reference: (body) => idAt(body, "output", "task_id"),
  status: (id) => ({ path: `/api/v1/tasks/${id}` }),
  state: (body) => {
    const output = jsonAt(body, "output")
    const status = stateOf(jsonAt(output, "task_status"))
    if (status === "failed") {
      return failedState(
        jsonAt(output, "message") ?? "The task was cancelled, or is unknown",
        jsonAt(output, "code")
      )
    }
    const seconds = Number(jsonAt(body, "usage", "duration") ?? jsonAt(body, "usage", "video_duration"))
    return {
      status,
      files: [...textsIn(jsonAt(output, "video_url")), ...urlsIn(jsonAt(output, "results"))],
      ...(seconds > 0 && { seconds })
    }
  }
}

export const dashscopeImages: OperationDialect = {
  path: ({ model }) =>
    `${SERVICES}/${
      AT_ONCE.test(model)
        ? "multimodal-generation/generation"
        : OF_IMAGES.test(model)
          ? "image2image/image-synthesis"
          : "text2image/image-synthesis"
    }`,
  headers: ({ model }) => (AT_ONCE.test(model) ? {} : ASYNC),
  request: (asked) => {
    const { model, prompt } = asked
    const images = referenceImages(asked).map(linkOrDataUri)
    const parameters = vendorFields(asked, { n: asked["n"], size: sizeText(asked) })
    if (!AT_ONCE.test(model))
      return { model, input: { prompt, ...(images.length > 0 && { images }) }, parameters }
    const content = [...images.map((image) => ({ image })), { text: prompt }]
    return { model, input: { messages: [{ role: "user", content }] }, parameters }
  },
  response: (body) => {
    const content = jsonAt(body, "output", "choices", "0", "message", "content")
    return imagesResponse(urlsIn(content, "image").map((url) => ({ url })))
  },
  task
}

export const dashscopeVideos: OperationDialect = {
  path: `${SERVICES}/video-generation/video-synthesis`,
  headers: () => ASYNC,
  request: (asked) => {
    const { model, prompt } = asked
    const image = firstFrame(asked)
    const { ratio, resolution } = mediaSize(asked)
    const isLines = ratio === undefined && resolution !== undefined
    return {
      model,
      input: present({ prompt, img_url: image && linkOrDataUri(image) }),
      parameters: vendorFields(asked, {
        size: isLines ? undefined : sizeText(asked),
        // `720P`, for models that animate images.
        resolution: isLines ? resolution.toUpperCase() : undefined,
        duration: secondsOf(asked)
      })
    }
  },
  task
}
