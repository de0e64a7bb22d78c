/** Replicate's API: `predictions`. Decoded by `replicate`. */
import { asksFor, type Fields, makeFakeTasks, startMediaVendor, stepOf } from "./MediaVendor.ts"

export const startReplicate = startMediaVendor((files, own) => {
  const tasks = makeFakeTasks((at) => `gm3qorzdhgbfurvjtvhg6dckh${at}`)
  return ({ fields, headers, method, path }) => {
    if (headers.authorization !== "Bearer r8_0123456789abcdef") {
      return {
        status: 401,
        json: { title: "Unauthenticated", detail: "You did not pass a valid token", status: 401 }
      }
    }
    const [, model] = /^\/v1\/models\/([\w.-]+\/[\w.-]+)\/predictions$/.exec(path) ?? []
    const [, id, action] = /^\/v1\/predictions\/(\w+)(\/cancel)?$/.exec(path) ?? []
    const isCreation = method === "POST" && (model !== undefined || path === "/v1/predictions")
    const urls = (id: string) => ({
      get: `${own()}/v1/predictions/${id}`,
      cancel: `${own()}/v1/predictions/${id}/cancel`,
      web: `https://replicate.com/p/${id}`
    })
    if (isCreation) {
      const input = fields["input"] as Fields
      const { aspect_ratio: aspect, prompt } = input
      if (asksFor(prompt, "no credits")) {
        const detail = "You have insufficient credit to run this model."
        return { status: 402, json: { title: "Insufficient credit", detail, status: 402 } }
      }
      if (asksFor(prompt, "rate limit")) {
        const detail = "Request was throttled. Your rate limit resets in ~7s."
        return { status: 429, json: { title: "Too many requests", detail, status: 429, retry_after: 7 } }
      }
      if (aspect !== undefined && !/^\d+:\d+$/.test(String(aspect))) {
        const detail =
          '- input.aspect_ratio: input.aspect_ratio must be one of the following: "1:1", "16:9"\n'
        const invalid = [
          { type: "enum", field: "input.aspect_ratio", description: "must be one of: 1:1, 16:9" }
        ]
        return {
          status: 422,
          json: { title: "Input validation failed", detail, status: 422, invalid_fields: invalid }
        }
      }
      const version = fields["version"] ?? "hidden"
      const task = tasks.create({ fields: { ...fields, prompt, model, version }, path })
      return {
        status: 201,
        json: {
          id: task.id,
          model: model ?? "",
          version,
          input,
          logs: "",
          output: null,
          data_removed: false,
          error: null,
          source: "api",
          status: "starting",
          created_at: "2026-11-20T10:00:00.000Z",
          urls: urls(task.id)
        }
      }
    }
    const task = tasks.poll(id)
    if (task === undefined)
      return { status: 404, json: { detail: "The requested resource could not be found.", status: 404 } }
    const { input, model: name, prompt, version } = task.request
    const body = {
      id: task.id,
      model: name,
      version,
      input,
      logs: "",
      output: null,
      error: null,
      source: "api",
      created_at: "2026-11-20T10:00:00.000Z",
      urls: urls(task.id)
    }
    if (method === "POST" && action !== undefined) return { json: { ...body, status: "canceled" } }
    const isFilm = "duration" in (input as Fields) || /video|motion/.test(String(name))
    const outputs = Array.from(
      { length: Number((input as Fields)["num_outputs"] ?? 1) },
      (_, at) => `${files}/${task.id}-${at}.${isFilm ? "mp4" : "png"}`
    )
    const ended = asksFor(prompt, "moderated task")
      ? { status: "failed", error: "NSFW content detected. Try running it again, or try a different prompt." }
      : asksFor(prompt, "failed task")
        ? { status: "failed", error: "CUDA out of memory" }
        : { status: "succeeded", output: isFilm ? outputs[0] : outputs, metrics: { predict_time: 4.5 } }
    return {
      json: { ...body, ...stepOf<object>(task, { status: "starting" }, { status: "processing" }, ended) }
    }
  }
})
