/** Runway's API: `text_to_image`, `text_to_video`, `image_to_video` and `tasks`. Decoded by `@runwayml/sdk`. */
import { asksFor, makeFakeTasks, startMediaVendor, stepOf } from "./MediaVendor.ts"

const RATIO = /^\d+:\d+$/
const PATHS = /^\/v1\/(text_to_image|text_to_video|image_to_video)$/

export const startRunway = startMediaVendor((files) => {
  const tasks = makeFakeTasks((at) => `17f20503-6c24-4c16-946b-35dbbce2af${at.toString().padStart(2, "0")}`)
  const createdAt = "2026-11-20T10:00:00.000Z"
  return ({ fields, headers, method, path }) => {
    if (headers.authorization !== "Bearer sk-runway-0123456789") {
      return { status: 401, json: { error: "The API key you provided is not valid." } }
    }
    if (headers["x-runway-version"] !== "2024-11-06") {
      return { status: 400, json: { error: "You must provide a valid X-Runway-Version header" } }
    }
    if (method === "POST" && PATHS.test(path)) {
      const { promptText, ratio } = fields
      if (asksFor(promptText, "moderation")) {
        return { status: 400, json: { error: "Your prompt did not pass content moderation." } }
      }
      if (asksFor(promptText, "no credits")) {
        return { status: 400, json: { error: "You do not have enough credits to run this task." } }
      }
      if (asksFor(promptText, "rate limit")) {
        return { status: 429, json: { error: "Too many requests." }, headers: { "retry-after": "7" } }
      }
      const hasSize = RATIO.test(String(ratio)) || (ratio === undefined && "resolution" in fields)
      if (!hasSize) {
        const issues = [{ code: "invalid_union", path: ["ratio"], message: "Invalid input" }]
        return { status: 400, json: { error: "Validation of body failed", issues } }
      }
      const { id } = tasks.create({ fields, path })
      return { json: { id, estimatedCost: { credits: 25 } } }
    }
    const [, id] = /^\/v1\/tasks\/([\w-]+)$/.exec(path) ?? []
    if (method === "DELETE" && tasks.remove(id)) return { status: 204 }
    const task = method === "GET" ? tasks.poll(id) : undefined
    if (task === undefined) return { status: 404, json: { error: "This task could not be found." } }
    const { promptText } = task.request
    const about = { id: task.id, createdAt }
    const cost = { credits: 25 }
    const failed = (failure: string, failureCode: string) => ({
      ...about,
      status: "FAILED",
      failure,
      failureCode,
      cost
    })
    const ended = asksFor(promptText, "moderated task")
      ? failed("The task was moderated.", "SAFETY.INPUT.TEXT")
      : asksFor(promptText, "failed task")
        ? failed("An unexpected error occurred.", "INTERNAL.BAD_OUTPUT.CODE01")
        : {
            ...about,
            status: "SUCCEEDED",
            output: [`${files}/${task.id}.${task.path.endsWith("image") ? "png" : "mp4"}?_jwt=signed`],
            cost
          }
    const waiting = { ...about, status: "PENDING", estimatedCost: cost }
    return { json: stepOf<object>(task, waiting, { ...waiting, status: "RUNNING", progress: 0.4 }, ended) }
  }
})
