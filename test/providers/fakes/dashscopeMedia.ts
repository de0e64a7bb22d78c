/** DashScope's Wan and Qwen-Image, from its public reference. The AI SDK decodes its videos. */
import { asksFor, type Fields, makeFakeTasks, startMediaVendor, stepOf } from "./MediaVendor.ts"

const REQUEST_ID = "4909100c-7b5a-9f92-bfe5-xxxxxx"
const SIZE = /^\d+\*\d+$/
const AIGC = "/api/v1/services/aigc"

const firstText = (input: Fields | undefined): unknown => {
  const [message] = (input?.["messages"] ?? []) as ReadonlyArray<{ readonly content: ReadonlyArray<Fields> }>
  return message?.content.find((part) => "text" in part)?.["text"]
}

export const startDashScopeMedia = startMediaVendor((files) => {
  const tasks = makeFakeTasks((at) => `0385dc79-5ff8-4d82-bcb6-0000000000${at.toString().padStart(2, "0")}`)
  const refused = (status: number, code: string, message: string) => ({
    status,
    json: { code, message, request_id: REQUEST_ID }
  })
  return ({ fields, headers, method, path }) => {
    if (headers.authorization !== "Bearer sk-dashscope-0123456789") {
      return refused(401, "InvalidApiKey", "Invalid API-key provided.")
    }
    const input = fields["input"] as Fields | undefined
    const parameters = fields["parameters"] as Fields | undefined
    const [, service] = /^\/api\/v1\/services\/aigc\/([\w-]+\/[\w-]+)$/.exec(path) ?? []
    if (method === "POST" && service !== undefined) {
      const prompt = input?.["prompt"] ?? firstText(input)
      const size = parameters?.["size"] as string | undefined
      if (prompt === undefined) return refused(400, "InvalidParameter", "Field required: input.prompt")
      if (asksFor(prompt, "moderation")) {
        return refused(400, "DataInspectionFailed", "Input data may contain inappropriate content.")
      }
      if (asksFor(prompt, "no credits")) {
        return refused(400, "Arrearage", "Access denied, please make sure your account is in good standing.")
      }
      if (asksFor(prompt, "rate limit"))
        return refused(429, "Throttling.RateQuota", "Requests rate limit exceeded")
      if (size !== undefined && !SIZE.test(size)) {
        return refused(400, "InvalidParameter", "Input should be a valid size: parameters.size")
      }
      if (path === `${AIGC}/multimodal-generation/generation`) {
        const content = Array.from({ length: Number(parameters?.["n"] ?? 1) }, (_, at) => ({
          image: `${files}/qwen-${at}.png?Expires=1`
        }))
        const choices = [{ finish_reason: "stop", message: { role: "assistant", content } }]
        const usage = { height: 1328, width: 1328, image_count: content.length }
        return { json: { output: { choices }, usage, request_id: REQUEST_ID } }
      }
      if (headers["x-dashscope-async"] !== "enable") {
        return refused(403, "AccessDenied", "current user api does not support synchronous calls.")
      }
      const { id } = tasks.create({ fields: { ...fields, prompt }, path })
      return { json: { output: { task_status: "PENDING", task_id: id }, request_id: REQUEST_ID } }
    }
    const [, id] = /^\/api\/v1\/tasks\/([\w-]+)$/.exec(path) ?? []
    if (method !== "GET" || id === undefined) return undefined
    const task = tasks.poll(id)
    const about = { task_id: id, submit_time: "2026-11-20 10:00:00.000" }
    const reply = (output: object, usage?: object) => ({
      json: { request_id: REQUEST_ID, output: { ...about, ...output }, ...(usage !== undefined && { usage }) }
    })
    if (task === undefined) return reply({ task_status: "UNKNOWN" })
    const { parameters: chosen, prompt } = task.request
    const step = stepOf(task, "PENDING", "RUNNING", "ended")
    if (step !== "ended") return reply({ task_status: step })
    if (asksFor(prompt, "moderated task")) {
      const message = "Output data may contain inappropriate content."
      return reply({ task_status: "FAILED", code: "DataInspectionFailed", message })
    }
    if (asksFor(prompt, "failed task")) {
      return reply({
        task_status: "FAILED",
        code: "InternalError",
        message: "An internal error has occurred"
      })
    }
    if (task.path.includes("video")) {
      const seconds = Number((chosen as Fields | undefined)?.["duration"] ?? 5)
      const usage = { duration: seconds, video_count: 1, SR: 720 }
      return reply({ task_status: "SUCCEEDED", video_url: `${files}/${id}.mp4?Expires=1` }, usage)
    }
    const number = Number((chosen as Fields | undefined)?.["n"] ?? 1)
    // The last of several images failed.
    const results = Array.from({ length: number }, (_, at) =>
      at > 0 && at === number - 1
        ? { code: "InternalError.Timeout", message: "An internal timeout error" }
        : { url: `${files}/${id}-${at}.png?Expires=1` }
    )
    const good = results.filter((result) => "url" in result).length
    const metrics = { TOTAL: number, SUCCEEDED: good, FAILED: number - good }
    return reply({ task_status: "SUCCEEDED", results, task_metrics: metrics }, { image_count: good })
  }
})
