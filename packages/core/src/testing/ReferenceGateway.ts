/**
 * A gateway that conforms to the interface, without HTTP. Each call has one handler; `World` is the state.
 *
 * The conformance tests serve it on a port: it keeps every rule.
 */
import { Record } from "effect"
import { encodeVector } from "../contract/Base64.ts"
import type { ChatRequest } from "../contract/Chat.ts"
import type { EmbeddingRequest } from "../contract/Embeddings.ts"
import type { ImageRequest } from "../contract/Images.ts"
import type { RerankRequest } from "../contract/Rerank.ts"
import { TINY_MP4 } from "./TinyMp4.ts"

/** The fields of all requests, with the values that a wrong request may have. */
export interface FakeRequestBody
  extends
    Partial<Omit<ImageRequest, "image" | "size">>,
    Pick<RerankRequest, "query" | "top_n" | "return_documents">,
    Pick<EmbeddingRequest, "input" | "encoding_format">,
    Pick<ChatRequest, "max_tokens" | "stream">,
    Pick<StoredToken, "id" | "name" | "status" | "expired_time" | "remain_quota" | "subnet"> {
  readonly documents: ReadonlyArray<string>
  readonly messages: ReadonlyArray<{ readonly content: string | ReadonlyArray<MessagePart> }>
  readonly image?: ReadonlyArray<string>
  readonly seconds?: string | number
  readonly size?: string | number
  readonly input_reference?: unknown
}

interface MessagePart {
  readonly type?: string
  readonly image_url?: { readonly url: string; readonly detail?: string }
}

export const API_KEY = "sk-reference-canary-key-0001"
export const ACCESS_TOKEN = "sat-reference-canary-token-0001"

export const MODELS = {
  embedding: "reference-embed",
  rerank: "reference-rerank",
  chat: "reference-vision",
  image: "reference-image",
  twoStepImage: "reference-two-step",
  video: "reference-video"
} as const

export interface StoredToken {
  readonly id: number
  name: string
  readonly key: string
  status: number
  expired_time: number
  remain_quota: number
  readonly subnet: string
}

export interface StoredTask {
  readonly id: string
  /** The number of polls. */
  looks: number
}

/** The state of the gateway. */
export interface World {
  /** Whether a call serves any model, or only its own of `MODELS`. */
  readonly anyModel: boolean
  accessToken: string
  readonly tokens: Map<number, StoredToken>
  readonly videos: Map<string, StoredTask>
  readonly images: Map<string, StoredTask>
}

export interface FakeCall {
  readonly world: World
  readonly params: ReadonlyArray<string>
  readonly query: URLSearchParams
  // Any body: handlers read the fields of the interface.
  readonly body: FakeRequestBody
}

export interface Reply {
  readonly status?: number
  readonly json?: unknown
  readonly bytes?: Uint8Array
  readonly events?: ReadonlyArray<unknown>
  readonly headers?: Readonly<Record<string, string>>
}

export type Handler = (call: FakeCall) => Reply

/** The credentials: each opens only its own paths. */
export type Opens = (world: World, path: string, credential: string) => boolean

export interface FakeGateway {
  readonly opens: Opens
  /** The quota units that a response of /v1 takes from the key. */
  readonly charges?: (reply: Reply) => number
  readonly calls: Readonly<Record<string, Handler>>
}

export const refusedReply = (status: number, message: string, param: string | null = null): Reply => ({
  status,
  json: {
    error: { message, type: status === 404 ? "not_found_error" : "invalid_request_error", param, code: null }
  }
})

const success = (data: unknown): Reply => ({ json: { success: true, message: "", data } })

/** Counts of letters, so that similar texts have similar vectors. */
const embed = (text: string): Float32Array => {
  const vector = new Float32Array(26)
  for (const letter of text.toLowerCase()) {
    const at = (letter.codePointAt(0) ?? 0) % 26
    vector[at] = (vector[at] ?? 0) + 1
  }
  return vector
}

const wordsOf = (text: string) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu))

/** Refuses a model of another call. */
const served = ({ anyModel }: World, model: string | undefined, wanted: string, handle: () => Reply): Reply =>
  anyModel || model === wanted ? handle() : refusedReply(404, "There is no such model")

const embeddings: Handler = ({ body: { encoding_format, input, model }, world }) =>
  served(world, model, MODELS.embedding, () => {
    const texts = typeof input === "string" ? [input] : input
    if (texts.length === 0) return refusedReply(400, "There is no input", "input")
    const encode = (vector: Float32Array) =>
      encoding_format === "base64" ? encodeVector(vector) : [...vector]
    const data = texts.map((text, index) => ({ object: "embedding", index, embedding: encode(embed(text)) }))
    const tokens = texts.length
    return { json: { object: "list", data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } } }
  })

const rerank: Handler = ({ body: { documents, model, query, return_documents, top_n }, world }) =>
  served(world, model, MODELS.rerank, () => {
    if (documents.length === 0) return refusedReply(400, "There are no documents", "documents")
    const wanted = wordsOf(query)
    const results = documents.map((text, index) => ({
      index,
      relevance_score: wordsOf(text).intersection(wanted).size / Math.max(1, wanted.size),
      ...(return_documents === true && { document: { text } })
    }))
    const best = results.toSorted((a, b) => b.relevance_score - a.relevance_score)
    return { json: { results: best.slice(0, top_n) } }
  })

const chat: Handler = ({ body: { messages, model, stream }, world }) =>
  served(world, model, MODELS.chat, () => {
    const parts = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content))
    const content = parts.length > 0 ? "Red." : "Green."
    const prompt_tokens = 9 + 85 * parts.filter(({ image_url }) => image_url !== undefined).length
    const usage = { prompt_tokens, completion_tokens: 2, total_tokens: prompt_tokens + 2 }
    if (stream === true) {
      const end = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }
      return { events: [{ choices: [{ index: 0, delta: { content } }] }, end, "[DONE]"] }
    }
    return {
      json: { choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }], usage }
    }
  })

const newTask = (tasks: Map<string, StoredTask>): StoredTask => {
  const task = { id: `task-${tasks.size + 1}`, looks: 0 }
  tasks.set(task.id, task)
  return task
}

const pixelsOf = (size: unknown, ratio: string): [number, number] => {
  const [width, height] = /^\d+x\d+$/.test(String(size)) ? String(size).split("x") : ratio.split(":")
  return [Number(width), Number(height)]
}

/** The header of a PNG or WEBP image. */
export const emptyImage = (format: string, width: number, height: number): Buffer => {
  if (format === "webp") {
    const webp = Buffer.alloc(30)
    webp.write("RIFF\u0016\0\0\0WEBPVP8X\u000a\0\0\0", "latin1")
    webp.writeUIntLE(width - 1, 24, 3)
    webp.writeUIntLE(height - 1, 27, 3)
    return webp
  }
  const png = Buffer.from("89504e470d0a1a0a0000000d4948445200000000000000000802000000", "hex")
  png.writeUInt32BE(width, 16)
  png.writeUInt32BE(height, 20)
  return png
}

const createImage: Handler = ({ body, world }) => {
  const { aspect_ratio = "1:1", model, n = 1, output_format = "png", size } = body
  if (model?.includes("two-step") === true) return { json: { id: newTask(world.images).id } }
  const b64_json = emptyImage(output_format, ...pixelsOf(size, aspect_ratio)).toString("base64")
  const data = Array.from({ length: n }, () => ({ b64_json }))
  return served(world, model?.replace(/-i\d$/, ""), MODELS.image, () => ({ json: { data } }))
}

const getImage: Handler = ({ params: [id = ""], world }) => {
  const task = world.images.get(id)
  if (task === undefined) return refusedReply(404, "There is no such task")
  task.looks++
  if (task.looks < 2) return { json: { id, status: "in_progress" } }
  return { json: { id, status: "completed", data: [{ url: "https://images.example/2.png" }] } }
}

const VIDEO_STATUSES = ["queued", "in_progress", "completed"]

const video = ({ id, looks }: StoredTask) => ({
  id,
  object: "video",
  status: VIDEO_STATUSES[Math.min(looks, 2)]
})

const createVideo: Handler = ({ body: { model }, world }) =>
  served(world, model, MODELS.video, () => ({ json: video(newTask(world.videos)) }))

const getVideo: Handler = ({ params: [id = ""], world }) => {
  const task = world.videos.get(id)
  if (task === undefined) return refusedReply(404, "There is no such video")
  task.looks++
  return { json: video(task) }
}

const videoContent: Handler = ({ params: [id = ""], world }) => {
  const task = world.videos.get(id)
  if (task === undefined || task.looks < 2) return refusedReply(404, "There is no such video")
  return { bytes: TINY_MP4, headers: { "content-type": "video/mp4" } }
}

const deleteVideo: Handler = ({ params: [id = ""], world }) =>
  world.videos.delete(id)
    ? { json: { id, object: "video", deleted: true } }
    : refusedReply(404, "There is no such video")

const self: Handler = () => success({ username: "keeper", quota: 5_000_000 })

const rotate: Handler = ({ world }) => {
  world.accessToken = `sat-${crypto.randomUUID()}`
  return { ...success(world.accessToken), headers: { "cache-control": "no-store" } }
}

/** A token with a masked key. */
const shown = (token: StoredToken) => ({ ...token, key: `${token.key.slice(0, 3)}…${token.key.slice(-4)}` })

const listTokens: Handler = ({ query, world }) =>
  success([...world.tokens.values()].slice(0, Number(query.get("num") ?? 10)).map(shown))

const createToken: Handler = ({ body, world }) => {
  const { expired_time, name, remain_quota, subnet } = body
  const id = Math.max(0, ...world.tokens.keys()) + 1
  const key = `sk-${(crypto.randomUUID() + crypto.randomUUID()).replaceAll("-", "")}`
  const token: StoredToken = { id, name, key, status: 1, expired_time, remain_quota, subnet }
  world.tokens.set(id, token)
  return success(token)
}

const updateToken: Handler = ({ body, world }) => {
  const token = world.tokens.get(body.id)
  if (token === undefined) return refusedReply(404, "There is no such token")
  const { expired_time, name, remain_quota, status } = body
  Object.assign(token, { expired_time, name, remain_quota, status })
  return success(shown(token))
}

const getToken: Handler = ({ params: [id], world }) => {
  const token = world.tokens.get(Number(id))
  return token === undefined ? refusedReply(404, "There is no such token") : success(shown(token))
}

const deleteToken: Handler = ({ params: [id], world }) =>
  world.tokens.delete(Number(id)) ? success(null) : refusedReply(404, "There is no such token")

const searchTokens: Handler = ({ query, world }) => {
  const keyword = query.get("keyword") ?? ""
  return success([...world.tokens.values()].filter(({ name }) => name.includes(keyword)).map(shown))
}

const modelList = () => Object.values(MODELS).map((id) => ({ id, object: "model" }))

/** This gateway is called from loopback only. */
export const isUsable = ({ expired_time, remain_quota, status, subnet }: StoredToken): boolean =>
  status === 1 &&
  remain_quota > 0 &&
  (expired_time === -1 || expired_time * 1000 > Date.now()) &&
  (subnet === "" || subnet.startsWith("127."))

export const grantsAccess: Opens = (world, path, credential) =>
  path.startsWith("/v1/")
    ? credential === API_KEY ||
      [...world.tokens.values()].some((token) => token.key === credential && isUsable(token))
    : credential === world.accessToken

/** The calls by method and path: the name of each, and its handler. */
export const CALLS = {
  "POST /v1/rerank": { name: "rerank", handler: rerank },
  "POST /v1/embeddings": { name: "embeddings", handler: embeddings },
  "POST /v1/chat/completions": { name: "chat", handler: chat },
  "POST /v1/images/generations": { name: "images.create", handler: createImage },
  "GET /v1/images/generations/{}": { name: "images.get", handler: getImage },
  "POST /v1/videos": { name: "videos.create", handler: createVideo },
  "GET /v1/videos/{}": { name: "videos.get", handler: getVideo },
  "GET /v1/videos/{}/content": { name: "videos.content", handler: videoContent },
  "DELETE /v1/videos/{}": { name: "videos.remove", handler: deleteVideo },
  "GET /v1/models": { name: "models", handler: () => ({ json: { object: "list", data: modelList() } }) },
  "GET /api/models": { name: "account.models", handler: () => success(modelList()) },
  "GET /api/user/available_models": { name: "account.availableModels", handler: () => success(modelList()) },
  "GET /api/user/self": { name: "account.user", handler: self },
  "GET /api/user/token": { name: "account.rotateAccessToken", handler: rotate },
  "GET /api/token/": { name: "tokens.list", handler: listTokens },
  "POST /api/token/": { name: "tokens.create", handler: createToken },
  "PUT /api/token/": { name: "tokens.update", handler: updateToken },
  "GET /api/token/search": { name: "tokens.search", handler: searchTokens },
  "GET /api/token/{}": { name: "tokens.get", handler: getToken },
  "DELETE /api/token/{}": { name: "tokens.remove", handler: deleteToken }
} as const satisfies Readonly<Record<string, { readonly name: string; readonly handler: Handler }>>

export const handlers: FakeGateway["calls"] = Record.map(CALLS, ({ handler }) => handler)

/** The account starts with two tokens. */
export const makeWorld = (anyModel: boolean): World => {
  const own = (id: number, name: string): [number, StoredToken] => [
    id,
    { id, name, key: `sk-own-${id}`, status: 1, expired_time: -1, remain_quota: 500_000, subnet: "" }
  ]
  return {
    anyModel,
    accessToken: ACCESS_TOKEN,
    tokens: new Map([own(1, "laptop"), own(2, "harbour office")]),
    videos: new Map(),
    images: new Map()
  }
}

/** The name, the handler and the parameters of the first call that matches the path. */
export const findCall = (calls: FakeGateway["calls"], method: string, path: string) => {
  for (const [name, handler] of Object.entries(calls)) {
    const pattern = new RegExp(`^${name.replaceAll("{}", "([^/]+)").replaceAll(/[.?]/g, "\\$&")}$`)
    const found = pattern.exec(`${method} ${path}`)
    if (found !== null) return { name, handler, params: found.slice(1).map(decodeURIComponent) }
  }
  return undefined
}
