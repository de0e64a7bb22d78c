/** Gateways with one fault each, and the rule that catches it. */
import {
  type Gateway,
  type Handler,
  handlerOf,
  isUsable,
  type Opens,
  referenceGateway,
  refuse,
  type Reply,
  type Token
} from "./ReferenceGateway.ts"

export interface BrokenGateway {
  /** The fault. */
  readonly does: string
  /** The rule that catches it: call and name. */
  readonly breaks: string
  readonly gateway: Gateway
  /** The group of the image model that shows it. */
  readonly group?: "I1" | "I4" | "I5"
}

const { calls, opens } = referenceGateway

/** One call has another handler. */
const answering = (does: string, call: string, rule: string, handler: Handler): BrokenGateway => ({
  does,
  breaks: `${call} ${rule}`,
  gateway: { opens, calls: { ...calls, [call]: handler } }
})

// The responses of the reference gateway, whose form is known.
type Json = any // oxlint-disable-line typescript/no-explicit-any

/** The successful responses of one call are changed. */
const changing = (does: string, call: string, rule: string, change: (json: Json) => unknown): BrokenGateway =>
  answering(does, call, rule, (request) => {
    const reply = handlerOf(call)(request)
    return reply.status === undefined && reply.json !== undefined
      ? { ...reply, json: change(reply.json) }
      : reply
  })

const admitting = (does: string, breaks: string, opens: Opens): BrokenGateway => ({
  does,
  breaks,
  gateway: { opens, calls }
})

const each = <A>(list: ReadonlyArray<A>, change: (one: A, nth: number) => unknown) => list.map(change)

/** The call has no effect on the state. */
const forgetting =
  (call: string, reply: Reply): Handler =>
  (request) => {
    const { world } = request
    const copy = { ...world, tokens: structuredClone(world.tokens), videos: structuredClone(world.videos) }
    const answer = handlerOf(call)({ ...request, world: copy })
    return answer.status === undefined ? reply : answer
  }

/** Opens for tokens as if they had these fields. */
const ignoring =
  (fields: Partial<Token>): Opens =>
  (world, path, credential) =>
    opens(world, path, credential) ||
    (path.startsWith("/v1/") &&
      [...world.tokens.values()].some(
        (token) => token.key === credential && isUsable({ ...token, ...fields })
      ))

const RERANK = "POST /v1/rerank"
const EMBED = "POST /v1/embeddings"
const CHAT = "POST /v1/chat/completions"
const IMAGE = "POST /v1/images/generations"
const DONE: Reply = { json: { success: true, message: "", data: null } }

export const brokenGateways: ReadonlyArray<BrokenGateway> = [
  changing("counts documents from 1", RERANK, "index", ({ results }) => ({
    results: each(results, (result: Json) => ({ ...result, index: result.index + 1 }))
  })),
  changing("ranks one document twice and leaves another out", RERANK, "distinct", ({ results }) => ({
    results: each(results, (result: Json) => ({ ...result, index: result.index === 2 ? 0 : result.index }))
  })),
  answering("ignores top_n", RERANK, "topN", ({ body: { top_n, ...body }, ...rest }) =>
    handlerOf(RERANK)({
      ...rest,
      body: { ...body, ...(top_n === 2 ? {} : { top_n: top_n ?? body.documents.length }) }
    })
  ),
  answering("ranks only the first documents", RERANK, "topN", ({ body, ...rest }) =>
    handlerOf(RERANK)({ ...rest, body: { ...body, documents: body.documents.slice(0, body.top_n) } })
  ),
  changing("returns each document beside its neighbour's index", RERANK, "documents", ({ results }) => ({
    results: each(results, (result: Json, nth) => ({ ...result, document: results[(nth + 1) % 3]?.document }))
  })),
  changing("ranks an irrelevant document first", RERANK, "relevance", ({ results }) => ({
    results: each(results, (result: Json) => ({ ...result, relevance_score: 1 - result.relevance_score }))
  })),
  changing("sends scores as text", RERANK, "form", ({ results }) => ({
    results: each(results, (result: Json) => ({ ...result, relevance_score: String(result.relevance_score) }))
  })),
  answering("omits the worst document", RERANK, "complete", (request) => {
    const reply = handlerOf(RERANK)(request)
    const { return_documents, top_n } = request.body
    const asked = reply.status !== undefined || top_n !== undefined || return_documents === true
    return asked ? reply : { json: { results: (reply.json as Json).results.slice(0, -1) } }
  }),
  changing("names another `object` for the list", EMBED, "object", (json) => ({
    ...json,
    object: "embeddings"
  })),
  changing("names another `object` for entries", EMBED, "entryObject", (json) => ({
    ...json,
    data: each(json.data, (entry: Json) => ({ ...entry, object: "vector" }))
  })),
  changing("counts texts from 1", EMBED, "index", (json) => ({
    ...json,
    data: each(json.data, (entry: Json) => ({ ...entry, index: entry.index + 1 }))
  })),
  answering("sends Base64 without a request for it", EMBED, "numbers", ({ body, ...rest }) =>
    handlerOf(EMBED)({ ...rest, body: { encoding_format: "base64", ...body } })
  ),
  changing("omits the model", EMBED, "model", (json) => ({ ...json, model: undefined })),
  answering("embeds one text word by word", EMBED, "single", (request) => {
    const { encoding_format, input } = request.body
    const split = typeof input === "string" && encoding_format === undefined
    return handlerOf(EMBED)(
      split ? { ...request, body: { ...request.body, input: input.split(" ") } } : request
    )
  }),
  changing("omits the last text", EMBED, "count", (json) => ({
    ...json,
    data: json.data.slice(0, Math.max(1, json.data.length - 1))
  })),
  changing("swaps the indices of vectors", EMBED, "order", (json) => ({
    ...json,
    data: each(json.data, (entry: Json, nth) => ({ ...entry, index: json.data.length - 1 - nth }))
  })),
  answering("has one vector for all texts", EMBED, "differ", ({ body, ...rest }) => {
    const input = typeof body.input === "string" ? "one" : body.input.map(() => "one")
    return handlerOf(EMBED)({ ...rest, body: { ...body, input } })
  }),
  changing("has vectors of different dimensions", EMBED, "dimension", (json) => ({
    ...json,
    data: each(json.data, (entry: Json, nth) =>
      nth === 0 && json.data.length > 1 ? { ...entry, embedding: entry.embedding.slice(1) } : entry
    )
  })),
  answering("sends numbers although Base64 was requested", EMBED, "base64", ({ body, ...rest }) =>
    handlerOf(EMBED)({
      ...rest,
      body: body.encoding_format === "base64" ? { ...body, encoding_format: "float" } : body
    })
  ),
  changing("does not count tokens", EMBED, "usage", (json) => ({ ...json, usage: undefined })),
  changing("omits the text", CHAT, "text", (json) => ({
    ...json,
    choices: [{ ...json.choices[0], message: { role: "assistant", content: null } }]
  })),
  changing("ignores max_tokens", CHAT, "maxTokens", (json) => ({
    ...json,
    usage: { ...json.usage, completion_tokens: 5120 }
  })),
  answering("accepts only one image", CHAT, "images", (request) => {
    const images = request.body.messages.flatMap(({ content }) =>
      typeof content === "string" ? [] : content.filter(({ image_url }) => image_url !== undefined)
    )
    return images.length > 1 ? refuse(400, "One image at most", "messages") : handlerOf(CHAT)(request)
  }),
  changing("omits the image", IMAGE, "images", (json) =>
    json.data === undefined ? json : { data: [{ revised_prompt: "A red circle" }] }
  ),
  changing("omits the id of a task", IMAGE, "task", (json) =>
    json.id === undefined ? json : { status: "in_progress" }
  ),
  changing("omits the status of an image task", "GET /v1/images/generations/{}", "status", (json) => ({
    ...json,
    status: json.status === "completed" ? json.status : undefined
  })),
  changing(
    "omits the urls of completed images",
    "GET /v1/images/generations/{}",
    "urls",
    ({ data, ...json }) => ({
      ...json,
      ...(data && { data: [{ revised_prompt: "A red circle" }] })
    })
  ),
  changing("creates four images by default", "POST /v1/images/generations", "one", (json) =>
    json.data === undefined ? json : { data: Array.from({ length: 4 }, () => json.data[0]) }
  ),
  changing("sends video ids as numbers", "POST /v1/videos", "form", (json) => ({ ...json, id: 7 })),
  changing("returns another video", "GET /v1/videos/{}", "sameId", (json) => ({ ...json, id: "task-0" })),
  changing("has an unknown video status", "GET /v1/videos/{}", "status", (json) => ({
    ...json,
    status: json.status === "in_progress" ? "processing" : json.status
  })),
  changing("omits the error of a failed video", "GET /v1/videos/{}", "error", (json) => ({
    ...json,
    status: json.status === "completed" ? "failed" : json.status
  })),
  answering("sends a web page as the video", "GET /v1/videos/{}/content", "mp4", () => ({
    bytes: Buffer.from("<!doctype html><title>Your download will begin shortly</title>"),
    headers: { "content-type": "video/mp4" }
  })),
  answering("truncates the video", "GET /v1/videos/{}/content", "whole", (request) => {
    const reply = handlerOf("GET /v1/videos/{}/content")(request)
    return reply.bytes === undefined ? reply : { ...reply, bytes: reply.bytes.subarray(0, 40) }
  }),
  admitting(
    "serves videos without a credential",
    "GET /v1/videos/{}/content anonymous",
    (world, path, credential) =>
      opens(world, path, credential) || (path.endsWith("/content") && credential === "")
  ),
  answering("keeps deleted videos", "DELETE /v1/videos/{}", "gone", () => ({
    json: { deleted: true }
  })),
  admitting(
    "lets an API key read the account",
    "GET /api/user/self otherCredential",
    (world, path, credential) =>
      opens(world, path, credential) || (path === "/api/user/self" && opens(world, "/v1/", credential))
  ),
  changing("sends the balance as text", "GET /api/user/self", "form", (json) => ({
    ...json,
    data: { ...json.data, quota: "$10.00" }
  })),
  changing("lists models as strings", "GET /api/models", "ids", (json) => ({
    ...json,
    data: each(json.data, ({ id }: Json) => id)
  })),
  changing("lists models by channel", "GET /api/models", "list", (json) => ({
    ...json,
    data: { default: each(json.data, ({ id }: Json) => id) }
  })),
  changing("lists a user's models by channel", "GET /api/user/available_models", "list", (json) => ({
    ...json,
    data: { default: each(json.data, ({ id }: Json) => id) }
  })),
  answering("refuses with 200", "GET /api/user/available_models", "answers", () => ({
    json: { success: false, message: "Come back later", data: null }
  })),
  answering("fails", "GET /api/user/self", "answers", () => refuse(500, "Out of memory")),
  admitting(
    "embeds without a credential",
    "POST /v1/embeddings anonymous",
    (world, path, credential) =>
      opens(world, path, credential) || (path === "/v1/embeddings" && credential === "")
  ),
  changing("lists tokens by page", "GET /api/token/", "list", (json) => ({
    ...json,
    data: { items: json.data, total: 2 }
  })),
  changing("has a third status for tokens", "GET /api/token/", "fields", (json) => ({
    ...json,
    data: each(json.data, (token: Json) => ({ ...token, status: 2 }))
  })),
  changing("omits the subnet of a token", "GET /api/token/{}", "data", (json) => ({
    ...json,
    data: json.data && { ...json.data, subnet: undefined }
  })),
  changing("finds no token", "GET /api/token/search", "finds", (json) => ({ ...json, data: [] })),
  changing("creates tokens with an unknown status", "POST /api/token/", "fields", (json) => ({
    ...json,
    data: { ...json.data, status: 2 }
  })),
  answering("ignores the page size", "GET /api/token/", "num", (request) =>
    handlerOf("GET /api/token/")({ ...request, query: new URLSearchParams() })
  ),
  answering("returns the first token for every id", "GET /api/token/{}", "sameId", (request) =>
    handlerOf("GET /api/token/{}")(
      request.world.tokens.has(Number(request.params[0])) ? { ...request, params: ["1"] } : request
    )
  ),
  answering("finds every token for every keyword", "GET /api/token/search", "only", (request) =>
    handlerOf("GET /api/token/search")({ ...request, query: new URLSearchParams() })
  ),
  changing("omits the key of a new token", "POST /api/token/", "key", (json) => ({
    ...json,
    data: { ...json.data, key: undefined }
  })),
  answering("ignores the quota of a new token", "POST /api/token/", "asAsked", ({ body, ...rest }) =>
    handlerOf("POST /api/token/")({
      ...rest,
      body: { ...body, remain_quota: Math.min(body.remain_quota, 1) }
    })
  ),
  admitting(
    "creates keys that open nothing",
    "POST /api/token/ opens",
    (world, path, credential) =>
      opens(world, path, credential) &&
      ![...world.tokens.values()].some(({ key, name }) => key === credential && !name.endsWith("-b"))
  ),
  answering("ignores a new name", "PUT /api/token/", "renames", (request) => {
    const name = request.world.tokens.get(request.body.id)?.name ?? ""
    return handlerOf("PUT /api/token/")({ ...request, body: { ...request.body, name } })
  }),
  answering("ignores a new quota", "PUT /api/token/", "quota", (request) => {
    const remain_quota = request.world.tokens.get(request.body.id)?.remain_quota ?? 0
    return handlerOf("PUT /api/token/")({ ...request, body: { ...request.body, remain_quota } })
  }),
  answering("ignores a new expiry", "PUT /api/token/", "expires", (request) => {
    const expired_time = request.world.tokens.get(request.body.id)?.expired_time ?? 0
    return handlerOf("PUT /api/token/")({ ...request, body: { ...request.body, expired_time } })
  }),
  answering("cannot enable a token", "PUT /api/token/", "enables", ({ body, ...rest }) =>
    handlerOf("PUT /api/token/")({ ...rest, body: { ...body, status: body.status === 1 ? 0 : body.status } })
  ),
  answering("cannot disable a token", "PUT /api/token/", "disables", ({ body, ...rest }) =>
    handlerOf("PUT /api/token/")({ ...rest, body: { ...body, status: body.status === 0 ? 1 : body.status } })
  ),
  admitting("accepts disabled keys", "PUT /api/token/ disabledKey", ignoring({ status: 1 })),
  changing("makes one image for each request", IMAGE, "several", (json) =>
    json.data === undefined ? json : { data: json.data.slice(0, 1) }
  ),
  changing("charges an image as text", CHAT, "low", (json) => ({
    ...json,
    usage: { ...json.usage, prompt_tokens: 9 }
  })),
  answering("sends Base64 for floats", EMBED, "float", ({ body, ...rest }) =>
    handlerOf(EMBED)({
      ...rest,
      body: body.encoding_format === "float" ? { ...body, encoding_format: "base64" } : body
    })
  ),
  changing("counts ten tokens for each letter", EMBED, "tokens", (json) => ({
    ...json,
    usage: { prompt_tokens: 920, total_tokens: 920 }
  })),
  ...(["size", "output_format", "aspect_ratio"] as const).map((field, nth) => ({
    ...answering(`ignores ${field}`, IMAGE, ["pixels", "format", "ratio"][nth] ?? "", ({ body, ...rest }) => {
      const reply = handlerOf(IMAGE)({ ...rest, body })
      const { [field]: _, ...left } = body
      return reply.status === undefined ? handlerOf(IMAGE)({ ...rest, body: left }) : reply
    }),
    ...(nth > 0 && { group: nth === 1 ? ("I1" as const) : ("I5" as const) })
  })),
  {
    ...changing("sends links for Base64", IMAGE, "base64", (json) =>
      json.data === undefined ? json : { data: each(json.data, () => ({ url: "http://127.0.0.1:9/1.png" })) }
    ),
    group: "I4"
  },
  admitting(
    "never enables a key again",
    "PUT /api/token/ enabledKey",
    (world, path, credential) =>
      opens(world, path, credential) &&
      ![...world.tokens.values()].some(({ key, name }) => key === credential && name.endsWith("-b"))
  ),
  admitting(
    "accepts removed keys",
    "DELETE /api/token/{} removedKey",
    (world, path, credential) =>
      opens(world, path, credential) ||
      (path.startsWith("/v1/") &&
        /^sk-[\da-f]{64}$/.test(credential) &&
        ![...world.tokens.values()].some(({ key }) => key === credential))
  ),
  changing("lists models that it does not have", "GET /api/user/available_models", "within", (json) => ({
    ...json,
    data: [...json.data, { id: "of-another-gateway" }]
  })),
  admitting("ignores the subnet of keys", "POST /api/token/ subnet", ignoring({ subnet: "" })),
  admitting("ignores the quota of keys", "POST /api/token/ usedUp", ignoring({ remain_quota: 1 })),
  answering("keeps deleted tokens", "DELETE /api/token/{}", "gone", forgetting("DELETE /api/token/{}", DONE))
]
