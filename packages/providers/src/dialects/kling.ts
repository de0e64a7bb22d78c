/** Kling: images and videos, as tasks. The key is `ACCESS_KEY:SECRET_KEY`, which signs a token for each request. */
import { createHmac } from "node:crypto"
import { vendorError, failedState, idAt, stateOf, urlsIn } from "../media/MediaResponse.ts"
import { firstFrame, ratioOrSize, referenceImages, vendorFields } from "../media/MediaRequest.ts"
import type { Dialect, ErrorFields, Fields, InterfaceRequest, TaskDialect } from "../protocol/Dialect.ts"
import { jsonAt } from "../text/Values.ts"

const NAMES = {
  aspect_ratio: "size",
  duration: "seconds",
  model_name: "model",
  image: "input_reference"
}

/** Seconds for which a token is valid, and by which clocks may differ. */
const TOKEN_LIFE = 1800
const CLOCK_SKEW = 5

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")

const tokenOf = (key: string): string => {
  const [access = "", secret = ""] = key.split(":")
  const now = Math.floor(Date.now() / 1000)
  const text = `${encode({ alg: "HS256", typ: "JWT" })}.${encode({
    iss: access,
    exp: now + TOKEN_LIFE,
    nbf: now - CLOCK_SKEW
  })}`
  return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`
}

/** Kling takes Base64 without the head of a data URI. */
const linkOrBase64 = (image: string): string => image.replace(/^data:[^,]*,/, "")

const bodyOf = (asked: InterfaceRequest, image: string | undefined, more: Fields): Fields =>
  vendorFields(asked, {
    model_name: asked.model,
    prompt: asked["prompt"],
    aspect_ratio: ratioOrSize(asked),
    image: image && linkOrBase64(image),
    ...more
  })

/** Codes whose status says something else, such as 429 for an empty account. */
const CODES: Readonly<Record<string, Pick<ErrorFields, "code" | "status">>> = {
  1101: { code: "insufficient_quota", status: 402 },
  1102: { code: "insufficient_quota", status: 402 },
  1301: { code: "content_policy_violation", status: 400 }
}

/** A task has the path of its creation. */
const taskAt = (route: string): TaskDialect => ({
  reference: (body, asked) => {
    const id = idAt(body, "data", "task_id")
    return id && `${firstFrame(asked) === undefined ? route : "videos/image2video"}/${id}`
  },
  status: (path) => ({ path: `/v1/${path}` }),
  state: (body) => {
    const data = jsonAt(body, "data")
    const status = stateOf(jsonAt(data, "task_status"))
    if (status === "failed") return failedState(jsonAt(data, "task_status_msg"))
    const videos = jsonAt(data, "task_result", "videos")
    const seconds = Math.round(Number(jsonAt(videos, "0", "duration")))
    return {
      status,
      files: [...urlsIn(videos), ...urlsIn(jsonAt(data, "task_result", "images"))],
      ...(seconds > 0 && { seconds })
    }
  }
})

export const kling: Dialect = {
  id: "kling",
  name: "Kling",
  url: "https://api-singapore.klingai.com",
  keyVariable: "KLING_API_KEY",
  sign: (key) => ({ authorization: `Bearer ${tokenOf(key)}` }),
  operations: {
    images: {
      path: "/v1/images/generations",
      request: (asked) => bodyOf(asked, referenceImages(asked)[0], { n: asked["n"] }),
      task: taskAt("images/generations")
    },
    videos: {
      path: (asked) => `/v1/videos/${firstFrame(asked) === undefined ? "text2video" : "image2video"}`,
      request: (asked) => bodyOf(asked, firstFrame(asked), { duration: asked["seconds"] }),
      task: taskAt("videos/text2video")
    }
  },
  error: (body) => {
    const message = idAt(body, "message")
    if (message === undefined) return undefined
    const code = idAt(body, "code")
    const [, field] = /^(\w+) (?:value|is|must)\b/.exec(message) ?? []
    return { ...vendorError(message, field, NAMES), ...CODES[code ?? ""] }
  }
}
