/** Kling's API, from its public reference, because it has no SDK: JWT, `videos/text2video`, `image2video`, `images`. */
import { createHmac } from "node:crypto"
import { asksFor, makeFakeTasks, startMediaVendor, stepOf } from "./MediaVendor.ts"

const [ACCESS, SECRET] = ["kling-access-0123456789", "kling-secret-0123456789"]

/** Whether a token is signed with the secret, names the access key and is valid now. */
const isValid = (authorization: string | undefined): boolean => {
  const [head = "", body = "", signature] = (authorization ?? "").replace(/^Bearer /, "").split(".")
  const expected = createHmac("sha256", SECRET).update(`${head}.${body}`).digest("base64url")
  if (signature !== expected) return false
  const decode = (part: string) =>
    JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>
  const { exp, iss, nbf } = decode(body)
  const now = Date.now() / 1000
  return decode(head)["alg"] === "HS256" && iss === ACCESS && Number(exp) > now && Number(nbf) <= now
}

export const startKling = startMediaVendor((files) => {
  const tasks = makeFakeTasks((at) => `8293746501928374${at.toString().padStart(2, "0")}`)
  const envelope = (data: unknown) => ({
    code: 0,
    message: "SUCCEED",
    request_id: "CjMT7WdSwWcAAAAAALvB3g",
    data
  })
  const refused = (status: number, code: number, message: string) => ({
    status,
    json: { code, message, request_id: "CjMT7WdSwWcAAAAAALvB3g" }
  })
  return ({ fields, headers, method, path }) => {
    if (!isValid(headers.authorization)) return refused(401, 1002, "access key not found")
    const [, route, id] =
      /^\/v1\/(videos\/(?:text2video|image2video)|images\/generations)(?:\/(\w+))?$/.exec(path) ?? []
    if (route === undefined) return refused(404, 1203, "The requested resource does not exist")
    if (method === "POST" && id === undefined) {
      const { aspect_ratio: aspect, prompt } = fields
      if (asksFor(prompt, "moderation"))
        return refused(400, 1301, "Trigger the content security policy of the platform")
      if (asksFor(prompt, "no credits")) return refused(429, 1102, "Account balance not enough")
      if (asksFor(prompt, "rate limit")) return refused(429, 1302, "api rate limit exceeded")
      if (aspect !== undefined && !/^\d+:\d+$/.test(String(aspect))) {
        return refused(400, 1201, "aspect_ratio value 'wide' is invalid")
      }
      const task = tasks.create({ fields, path })
      const data = {
        task_id: task.id,
        task_status: "submitted",
        created_at: 1763632800000,
        updated_at: 1763632800000
      }
      return { json: envelope(data) }
    }
    const task = method === "GET" ? tasks.poll(id) : undefined
    // The path of a task is that of its kind.
    if (task?.path !== `/v1/${route}`) return refused(404, 1203, "Task not found")
    const { n, prompt } = task.request
    const about = { task_id: task.id, created_at: 1763632800000, updated_at: 1763632805000, task_info: {} }
    const failed = (message: string) => ({ ...about, task_status: "failed", task_status_msg: message })
    const result = route.startsWith("videos")
      ? {
          videos: [
            {
              id: "v1",
              url: `${files}/${task.id}.mp4`,
              duration: `${String(task.request["duration"] ?? 5)}.1`
            }
          ]
        }
      : {
          images: Array.from({ length: Number(n ?? 1) }, (_, index) => ({
            index,
            url: `${files}/${task.id}-${index}.png`
          }))
        }
    const ended = asksFor(prompt, "moderated task")
      ? failed("Failure to pass the risk control system")
      : asksFor(prompt, "failed task")
        ? failed("Internal error")
        : { ...about, task_status: "succeed", task_status_msg: "", task_result: result }
    const step = stepOf<object>(
      task,
      { ...about, task_status: "submitted" },
      { ...about, task_status: "processing" },
      ended
    )
    return { json: envelope(step) }
  }
})
