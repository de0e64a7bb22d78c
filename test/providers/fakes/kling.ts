/**
 * Kling's images and videos, from its public reference: https://app.klingai.com/global/dev/document-api/apiReference/commonInfo.
 * No client for JavaScript decodes them.
 */
import { createHmac } from "node:crypto"
import { asksFor, makeFakeTasks, PNG, startMediaVendor, stepOf } from "./MediaVendor.ts"

const RATIOS = new Set<unknown>(["16:9", "9:16", "1:1", "4:3", "3:4", "3:2", "2:3", "21:9", undefined])
const MODES = new Set<unknown>(["std", "pro", undefined])
const IMAGES = new Set<unknown>([PNG.toString("base64"), undefined])

const parse = (part = "") => JSON.parse(Buffer.from(part, "base64url").toString())

/** Whether a token is one of the key, or has been signed with its secret and is valid now. */
const isSigned = (token: string, key: string): boolean => {
  const [accessKey, secretKey] = key.split(":")
  if (secretKey === undefined) return token === key
  const [head, claims, signature] = token.split(".")
  const { exp, iss, nbf } = parse(claims)
  const now = Date.now() / 1000
  return (
    parse(head).alg === "HS256" &&
    signature === createHmac("sha256", secretKey).update(`${head}.${claims}`).digest("base64url") &&
    iss === accessKey &&
    nbf <= now &&
    exp > now
  )
}

export const startKlingWith = (key: string) =>
  startMediaVendor((files) => {
    const tasks = makeFakeTasks((at) => `8661682160022364${at.toString().padStart(2, "0")}`)
    const reply = (data: object) => ({
      json: { code: 0, message: "SUCCEED", request_id: "CjMT7WdSwWcAAAAAALvB3g", data }
    })
    const refused = (status: number, code: number, message: string) => ({
      status,
      json: { code, message, request_id: "CjMT7WdSwWcAAAAAALvB3g" }
    })
    return ({ fields, headers, method, path }) => {
      const [, token = ""] = /^Bearer (.+)$/.exec(headers.authorization ?? "") ?? []
      if (!isSigned(token, key)) return refused(401, 1000, "Authentication failed")
      const [, kind, id] =
        /^\/v1\/(images\/generations|videos\/(?:text|image)2video)(?:\/(\d+))?$/.exec(path) ?? []
      if (kind === undefined) return refused(404, 1202, "The requested method is invalid")
      const about = { task_info: {}, created_at: 1_764_500_000_000, updated_at: 1_764_500_001_000 }
      if (method === "POST" && id === undefined) {
        const { aspect_ratio: ratio, image, mode, prompt } = fields
        if (asksFor(prompt, "moderation")) {
          return refused(400, 1301, "The request does not pass the content security policy")
        }
        if (asksFor(prompt, "no credits")) return refused(429, 1102, "Resource pack depleted or expired")
        if (asksFor(prompt, "rate limit")) {
          return {
            ...refused(429, 1303, "parallel task over resource pack limit"),
            headers: { "retry-after": "7" }
          }
        }
        if (kind.endsWith("image2video") && image === undefined)
          return refused(400, 1201, "image is required")
        if (!RATIOS.has(ratio)) return refused(400, 1201, `aspect_ratio value '${String(ratio)}' is invalid`)
        if (!MODES.has(mode)) return refused(400, 1201, `mode value '${String(mode)}' is invalid`)
        if (!IMAGES.has(image) && !String(image).startsWith("https:")) {
          return refused(400, 1201, "image is neither a link nor Base64")
        }
        const task = tasks.create({ fields, path })
        return reply({ task_id: task.id, task_status: "submitted", ...about })
      }
      const task = method === "GET" ? tasks.poll(id) : undefined
      // A task is found under its own kind only.
      if (task === undefined || path !== `${task.path}/${task.id}`)
        return refused(404, 1203, "task not found")
      const { duration, n, prompt } = task.request
      const result = kind.startsWith("images")
        ? {
            images: Array.from({ length: Number(n ?? 1) }, (_, index) => ({
              index,
              url: `${files}/${task.id}-${index}.png`
            }))
          }
        : { videos: [{ id: "v-1", url: `${files}/${task.id}.mp4`, duration: `${duration ?? 5}.041` }] }
      const state = (status: string, more: object = {}) => ({
        task_id: task.id,
        task_status: status,
        task_status_msg: "",
        ...about,
        ...more
      })
      const ended = asksFor(prompt, "moderated task")
        ? state("failed", { task_status_msg: "Failure to pass the risk control system" })
        : asksFor(prompt, "failed task")
          ? state("failed", { task_status_msg: "Internal error" })
          : state("succeed", { task_result: result })
      return reply(stepOf<object>(task, state("submitted"), state("processing"), ended))
    }
  })

export const KLING_PAIR = "kling-access-0123456789:kling-secret-0123456789"

export const startKling = startKlingWith(KLING_PAIR)
