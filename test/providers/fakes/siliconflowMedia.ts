/** SiliconFlow's images and videos, from its public reference, because it has no SDK. */
import { asksFor, makeFakeTasks, startMediaVendor, stepOf } from "./MediaVendor.ts"

const SIZE = /^\d+x\d+$/

export const startSiliconFlowMedia = startMediaVendor((files) => {
  const tasks = makeFakeTasks((at) => `abc9rk${at.toString().padStart(4, "0")}`)
  const refused = (status: number, code: number, message: string) => ({
    status,
    json: { code, message, data: null }
  })
  return ({ fields, headers, method, path }) => {
    if (headers.authorization !== "Bearer sk-silicon-0123456789")
      return { status: 401, json: "Invalid token" }
    if (method !== "POST") return undefined
    const { image_size: size, prompt } = fields
    const creates = path === "/v1/images/generations" || path === "/v1/video/submit"
    if (creates) {
      if (asksFor(prompt, "moderation")) {
        return refused(
          451,
          20024,
          "Your request was rejected because the prompt contains prohibited content."
        )
      }
      if (asksFor(prompt, "no credits"))
        return refused(403, 30001, "Sorry, your account balance is insufficient")
      if (asksFor(prompt, "rate limit"))
        return refused(429, 50603, "Request was rejected due to rate limiting.")
      if (size !== undefined && !SIZE.test(String(size))) {
        return refused(
          400,
          20015,
          "The parameter is invalid. Please check again. image_size: must be one of 1024x1024"
        )
      }
    }
    if (path === "/v1/images/generations") {
      const images = Array.from({ length: Number(fields["batch_size"] ?? 1) }, (_, at) => ({
        url: `${files}/silicon-${at}.png`
      }))
      return { json: { images, timings: { inference: 1.2 }, seed: 7, data: images } }
    }
    if (path === "/v1/video/submit") return { json: { requestId: tasks.create({ fields, path }).id } }
    if (path !== "/v1/video/status") return undefined
    const task = tasks.poll(String(fields["requestId"]))
    if (task === undefined) return refused(400, 20013, "The request id does not exist")
    const empty = { reason: "", results: { videos: [], timings: { inference: 0 }, seed: 0 } }
    const failed = (reason: string) => ({ ...empty, status: "Failed", reason })
    const asked = task.request["prompt"]
    const ended = asksFor(asked, "moderated task")
      ? failed("The prompt or the result contains prohibited content")
      : asksFor(asked, "failed task")
        ? failed("Internal error")
        : {
            status: "Succeed",
            reason: "",
            results: { videos: [{ url: `${files}/${task.id}.mp4` }], timings: { inference: 123 }, seed: 7 }
          }
    return {
      json: stepOf<object>(task, { ...empty, status: "InQueue" }, { ...empty, status: "InProgress" }, ended)
    }
  }
})
