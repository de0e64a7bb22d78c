/** Kling: images and videos, as tasks. */
import { createHmac } from "node:crypto"
import { firstFrame, mediaOperation, type MediaValues, ratioOrSize } from "../media/MediaRequest.ts"
import { idAt, taskOf } from "../media/MediaResponse.ts"
import type { Dialect, ErrorFields } from "../protocol/Dialect.ts"

const TOKEN_SECONDS = 1800
/** The vendor's clock may be behind. */
const CLOCK_SECONDS = 5

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url")

/** The bearer token: the key itself, or one signed by the pair `accessKey:secretKey` that older accounts have. */
const tokenOf = (key: string): string => {
  const [accessKey, secretKey] = key.split(":")
  if (secretKey === undefined) return key
  const now = Math.floor(Date.now() / 1000)
  const claims = { iss: accessKey, exp: now + TOKEN_SECONDS, nbf: now - CLOCK_SECONDS }
  const signed = `${encode({ alg: "HS256", typ: "JWT" })}.${encode(claims)}`
  return `${signed}.${createHmac("sha256", secretKey).update(signed).digest("base64url")}`
}

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

/** The vendor's codes that its statuses do not tell. */
const CODES: Readonly<Record<string, Pick<ErrorFields, "code" | "status">>> = {
  "1101": { code: "insufficient_quota", status: 402 },
  "1102": { code: "insufficient_quota", status: 402 },
  "1300": { code: "content_policy_violation" },
  "1301": { code: "content_policy_violation" }
}

export const kling = {
  id: "kling",
  name: "Kling",
  url: "https://api-singapore.klingai.com",
  keyVariable: "KLINGAI_API_KEY",
  sign: (key) => ({ authorization: `Bearer ${tokenOf(key)}` }),
  operations: {
    images: mediaOperation({
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
    }),
    videos: mediaOperation({
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
  },
  error: (body) => {
    const [code = "", message] = [idAt(body, "code"), idAt(body, "message")]
    const [field] = /\b(?:aspect_ratio|resolution|mode|duration|image)\b/.exec(message ?? "") ?? []
    return message === undefined ? undefined : { message, param: field, code, ...CODES[code] }
  },
  fieldNames: { aspect_ratio: "size", resolution: "size", mode: "size", duration: "seconds" }
} as const satisfies Dialect
