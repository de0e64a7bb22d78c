/** fal's queue: submit, status, result, cancel. Decoded by `@fal-ai/client`. */
import { asksFor, makeFakeTasks, startMediaVendor, stepOf } from "./MediaVendor.ts"

export const startFal = startMediaVendor((files, own) => {
  const tasks = makeFakeTasks((at) => `764cabcf-b745-4b3e-ae38-1200304cf4${at.toString().padStart(2, "0")}`)
  const refused = (status: number, type: string, field: string, msg: string) => ({
    status,
    json: {
      detail: [{ loc: ["body", field], msg, type, url: `https://docs.fal.ai/errors#${type}`, input: {} }]
    }
  })
  return ({ fields, headers, method, path }) => {
    if (headers.authorization !== "Key fal-id:fal-secret-0123456789") {
      return { status: 401, json: { detail: "Cannot access application. Authentication is required." } }
    }
    const [, app, id, action] =
      /^\/([\w-]+\/[\w.-]+)\/requests\/([\w-]+)(?:\/(status|cancel))?$/.exec(path) ?? []
    if (method === "POST" && id === undefined) {
      const { prompt } = fields
      if (asksFor(prompt, "no credits")) {
        return {
          status: 403,
          json: { detail: "User is locked. Reason: Exhausted balance. Top up your balance." }
        }
      }
      if (asksFor(prompt, "rate limit")) {
        return { status: 429, json: { detail: "Too many requests" }, headers: { "retry-after": "7" } }
      }
      const [owner, name] = path.slice(1).split("/")
      const task = tasks.create({ fields, path })
      const at = `${own()}/${owner}/${name}/requests/${task.id}`
      return {
        json: {
          status: "IN_QUEUE",
          request_id: task.id,
          response_url: at,
          status_url: `${at}/status`,
          cancel_url: `${at}/cancel`,
          logs: null,
          metrics: {},
          queue_position: 0
        }
      }
    }
    const at = `${own()}/${app}/requests/${id}`
    if (action === "cancel") {
      if (tasks.isEnded(id)) return { status: 400, json: { status: "ALREADY_COMPLETED" } }
      return tasks.remove(id)
        ? { status: 202, json: { status: "CANCELLATION_REQUESTED" } }
        : { status: 404, json: { status: "NOT_FOUND" } }
    }
    const task = tasks.poll(id)
    if (task === undefined) return { status: 404, json: { detail: "Request not found" } }
    const urls = {
      request_id: task.id,
      response_url: at,
      status_url: `${at}/status`,
      cancel_url: `${at}/cancel`
    }
    if (action === "status") {
      const waiting = { ...urls, status: "IN_QUEUE", queue_position: 1 }
      const ended = { ...urls, status: "COMPLETED", logs: null, metrics: { inference_time: 3.7 } }
      return {
        status: task.polls > 2 ? 200 : 202,
        json: stepOf<object>(task, waiting, { ...urls, status: "IN_PROGRESS", logs: null }, ended)
      }
    }
    const { aspect_ratio: aspect, num_images: number, prompt } = task.request
    // The queue accepts every input. The model checks it.
    if (aspect !== undefined && !/^\d+:\d+$/.test(String(aspect))) {
      return refused(422, "literal_error", "aspect_ratio", "Input should be '16:9' or '9:16'")
    }
    if (asksFor(prompt, "moderation") || asksFor(prompt, "moderated task")) {
      return refused(
        422,
        "content_policy_violation",
        "prompt",
        "The content could not be processed because it was flagged by a content checker."
      )
    }
    if (asksFor(prompt, "failed task")) {
      return { status: 500, json: { detail: "Internal server error" } }
    }
    if (/video/.test(task.path)) {
      const video = {
        url: `${files}/${task.id}.mp4`,
        content_type: "video/mp4",
        file_name: "output.mp4",
        file_size: 41
      }
      return { json: { video, seed: 7 }, headers: { "x-fal-request-id": task.id } }
    }
    const images = Array.from({ length: Number(number ?? 1) }, (_, at) => ({
      url: `${files}/${task.id}-${at}.png`,
      content_type: "image/png",
      width: 1024,
      height: 768
    }))
    const json = {
      images,
      timings: { inference: 0.9 },
      seed: 7,
      has_nsfw_concepts: images.map(() => false),
      prompt
    }
    return { json, headers: { "x-fal-request-id": task.id } }
  }
})
