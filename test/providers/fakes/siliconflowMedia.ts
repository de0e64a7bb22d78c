/**
 * SiliconFlow's images and videos, from its public reference: https://docs.siliconflow.com/en/api-reference/images/images-generations
 * and https://docs.siliconflow.com/en/api-reference/videos/videos_submit. No client for JavaScript decodes them.
 */
import { asksFor, type Fields, makeFakeTasks, startMediaVendor, stepOf } from "./MediaVendor.ts"

const VIDEO_SIZES = new Set<unknown>(["1280x720", "720x1280", "960x960"])

export const startSiliconFlowMedia = startMediaVendor((files) => {
  const tasks = makeFakeTasks((at) => `wan${at.toString().padStart(10, "0")}`)
  const refused = (status: number, code: number, message: string) => ({
    status,
    json: { code, message, data: null }
  })
  const refusal = ({ image_size: size, prompt }: Fields, isSize: boolean) => {
    if (asksFor(prompt, "moderation")) return refused(400, 20015, "The prompt has sensitive content")
    if (asksFor(prompt, "no credits"))
      return refused(403, 30001, "Sorry, your account balance is insufficient")
    if (asksFor(prompt, "rate limit")) {
      const message = "Request was rejected due to rate limiting. Details:IPM limit reached."
      return { ...refused(429, 50602, message), headers: { "retry-after": "7" } }
    }
    if (size !== undefined && !isSize) {
      return refused(400, 20015, "The parameter is invalid. Please check again.")
    }
    return undefined
  }
  return ({ fields, headers, method, path }) => {
    if (headers.authorization !== "Bearer sk-siliconflow-0123456789") {
      return { status: 401, json: "Invalid token" }
    }
    const { batch_size: number = 1, image, image_size: size } = fields
    if (method === "POST" && path === "/v1/images/generations") {
      if (size === undefined && image === undefined) return refused(400, 20015, "Field required")
      const images = Array.from({ length: Number(number) }, (_, at) => ({
        url: `${files}/image-${at}.png?Expires=1`
      }))
      return (
        refusal(fields, /^\d+x\d+$/.test(String(size))) ?? {
          json: { images, timings: { inference: 1.2 }, seed: 7 }
        }
      )
    }
    if (method === "POST" && path === "/v1/video/submit") {
      if (size === undefined) return refused(400, 20015, "Field required")
      const no = refusal(fields, VIDEO_SIZES.has(size))
      return no ?? { json: { requestId: tasks.create({ fields, path }).id } }
    }
    if (method !== "POST" || path !== "/v1/video/status") return { status: 404, json: "404 page not found" }
    const id = fields["requestId"] as string
    const task = tasks.poll(id)
    if (task === undefined) return refused(400, 20012, "The request id does not exist")
    const { prompt } = task.request
    const failed = (reason: string) => ({ status: "Failed", reason, results: null })
    const ended = asksFor(prompt, "moderated task")
      ? failed("The generated video has sensitive content")
      : asksFor(prompt, "failed task")
        ? failed("Internal error")
        : {
            status: "Succeed",
            reason: "",
            results: {
              videos: [{ url: `${files}/${id}.mp4?Expires=1` }],
              timings: { inference: 120.5 },
              seed: 7
            }
          }
    const unfinished = (status: string) => ({ status, reason: "", results: null })
    return { json: stepOf<object>(task, unfinished("InQueue"), unfinished("InProgress"), ended) }
  }
})
