/** Luma's Dream Machine API: `generations`. Decoded by `lumaai`. */
import { asksFor, makeFakeTasks, startMediaVendor, stepOf } from "./MediaVendor.ts"

const ASPECTS = new Set([undefined, "1:1", "16:9", "9:16", "4:3", "3:4", "21:9", "9:21"])

export const startLuma = startMediaVendor((files) => {
  const tasks = makeFakeTasks((at) => `d1968551-6113-4b46-b567-09210c2e79${at.toString().padStart(2, "0")}`)
  return ({ fields, headers, method, path }) => {
    if (headers.authorization !== "Bearer luma-0123456789abcdef") {
      return { status: 403, json: { detail: "Not authenticated" } }
    }
    const [, kind] = /^\/dream-machine\/v1\/generations\/(image|video)$/.exec(path) ?? []
    const [, id] = /^\/dream-machine\/v1\/generations\/([\w-]{36})$/.exec(path) ?? []
    const about = (one: { readonly id: string; readonly request: object }, generation: string) => ({
      id: one.id,
      generation_type: generation,
      created_at: "2026-11-20T10:00:00.000Z",
      model: fields["model"],
      request: one.request,
      assets: null,
      failure_reason: null
    })
    if (method === "POST" && kind !== undefined) {
      const { aspect_ratio: aspect, prompt } = fields
      if (asksFor(prompt, "moderation")) {
        return { status: 400, json: { detail: "Your prompt was rejected: advanced moderation failed" } }
      }
      if (asksFor(prompt, "no credits")) return { status: 400, json: { detail: "Insufficient credits" } }
      if (asksFor(prompt, "rate limit")) return { status: 429, json: { detail: "Too many requests" } }
      if (!ASPECTS.has(aspect as string)) {
        const detail = [{ type: "enum", loc: ["body", "aspect_ratio"], msg: "Input should be '1:1', '16:9'" }]
        return { status: 422, json: { detail } }
      }
      return { status: 201, json: { ...about(tasks.create({ fields, path }), kind), state: "queued" } }
    }
    if (method === "DELETE" && tasks.remove(id)) return { status: 204 }
    const task = method === "GET" ? tasks.poll(id) : undefined
    if (task === undefined) return { status: 404, json: { detail: "Generation not found" } }
    const isImage = task.path.endsWith("image")
    const body = about(task, isImage ? "image" : "video")
    const { prompt } = task.request
    const failed = (failure: string) => ({ ...body, state: "failed", failure_reason: failure })
    const ended = asksFor(prompt, "moderated task")
      ? failed("400: Your generation did not pass frame moderation")
      : asksFor(prompt, "failed task")
        ? failed("500: Internal error")
        : {
            ...body,
            state: "completed",
            assets: isImage ? { image: `${files}/${task.id}.png` } : { video: `${files}/${task.id}.mp4` }
          }
    return { json: stepOf<object>(task, { ...body, state: "queued" }, { ...body, state: "dreaming" }, ended) }
  }
})
