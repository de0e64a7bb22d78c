/** Gateways that are broken on purpose, one way each, and the one rule that each of them breaks. */
import {
  type Gateway,
  type Handler,
  handlerOf,
  type Opens,
  referenceGateway,
  refuse,
  type Reply
} from "./ReferenceGateway.ts"

export interface BrokenGateway {
  /** What it does wrong. */
  readonly does: string
  /** The rule that catches it: call and name. */
  readonly breaks: string
  readonly gateway: Gateway
}

const { calls, opens } = referenceGateway

/** One call answers something else. */
const answering = (does: string, call: string, rule: string, handler: Handler): BrokenGateway => ({
  does,
  breaks: `${call} ${rule}`,
  gateway: { opens, calls: { ...calls, [call]: handler } }
})

// The answers are the reference gateway's own: what is in them is known.
type Json = any // oxlint-disable-line typescript/no-explicit-any

/** One call's successes are changed on their way out. */
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

/** Everything done as it should be, and nothing of it written down. */
const forgetting =
  (call: string, reply: Reply): Handler =>
  (request) => {
    const { world } = request
    const copy = { ...world, tokens: structuredClone(world.tokens), videos: structuredClone(world.videos) }
    const answer = handlerOf(call)({ ...request, world: copy })
    return answer.status === undefined ? reply : answer
  }

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
  answering("takes no notice of top_n", RERANK, "topN", ({ body: { top_n, ...body }, ...rest }) =>
    handlerOf(RERANK)({
      ...rest,
      body: { ...body, ...(top_n === 2 ? {} : { top_n: top_n ?? body.documents.length }) }
    })
  ),
  answering("ranks no more than the first documents", RERANK, "topN", ({ body, ...rest }) =>
    handlerOf(RERANK)({ ...rest, body: { ...body, documents: body.documents.slice(0, body.top_n) } })
  ),
  changing("returns each document beside its neighbour's index", RERANK, "documents", ({ results }) => ({
    results: each(results, (result: Json, nth) => ({ ...result, document: results[(nth + 1) % 3]?.document }))
  })),
  changing("ranks what has nothing to do with the query first", RERANK, "relevance", ({ results }) => ({
    results: each(results, (result: Json) => ({ ...result, relevance_score: 1 - result.relevance_score }))
  })),
  changing("sends scores as texts", RERANK, "form", ({ results }) => ({
    results: each(results, (result: Json) => ({ ...result, relevance_score: String(result.relevance_score) }))
  })),
  answering("leaves the worst document out", RERANK, "complete", (request) => {
    const reply = handlerOf(RERANK)(request)
    const { return_documents, top_n } = request.body
    const asked = reply.status !== undefined || top_n !== undefined || return_documents === true
    return asked ? reply : { json: { results: (reply.json as Json).results.slice(0, -1) } }
  }),
  changing("calls a list something else", EMBED, "object", (json) => ({ ...json, object: "embeddings" })),
  changing("calls an entry something else", EMBED, "entryObject", (json) => ({
    ...json,
    data: each(json.data, (entry: Json) => ({ ...entry, object: "vector" }))
  })),
  changing("counts texts from 1", EMBED, "index", (json) => ({
    ...json,
    data: each(json.data, (entry: Json) => ({ ...entry, index: entry.index + 1 }))
  })),
  answering("sends Base64 unasked", EMBED, "numbers", (request) =>
    handlerOf(EMBED)({ ...request, body: { ...request.body, encoding_format: "base64" } })
  ),
  changing("does not say which model it used", EMBED, "model", (json) => ({ ...json, model: undefined })),
  answering("embeds one text word by word", EMBED, "single", (request) => {
    const { encoding_format, input } = request.body
    const split = typeof input === "string" && encoding_format === undefined
    return handlerOf(EMBED)(
      split ? { ...request, body: { ...request.body, input: input.split(" ") } } : request
    )
  }),
  changing("leaves the last text out", EMBED, "count", (json) => ({
    ...json,
    data: json.data.slice(0, Math.max(1, json.data.length - 1))
  })),
  changing("numbers vectors in the order in which they were ready", EMBED, "order", (json) => ({
    ...json,
    data: each(json.data, (entry: Json, nth) => ({ ...entry, index: json.data.length - 1 - nth }))
  })),
  answering("has one vector for all texts", EMBED, "differ", ({ body, ...rest }) => {
    const input = typeof body.input === "string" ? "one" : body.input.map(() => "one")
    return handlerOf(EMBED)({ ...rest, body: { ...body, input } })
  }),
  changing("gives texts vectors of different length", EMBED, "dimension", (json) => ({
    ...json,
    data: each(json.data, (entry: Json, nth) =>
      nth === 0 && json.data.length > 1 ? { ...entry, embedding: entry.embedding.slice(1) } : entry
    )
  })),
  answering("sends numbers where Base64 was asked for", EMBED, "base64", ({ body, ...rest }) =>
    handlerOf(EMBED)({ ...rest, body: { ...body, encoding_format: "float" } })
  ),
  changing("does not count tokens", EMBED, "usage", (json) => ({ ...json, usage: undefined })),
  changing("answers with no text", CHAT, "text", (json) => ({
    ...json,
    choices: [{ ...json.choices[0], message: { role: "assistant", content: null } }]
  })),
  answering("looks at GIF images", CHAT, "gif", (request) => {
    const reply = handlerOf(CHAT)(request)
    return reply.status === 400 ? { json: { choices: [{ message: { content: "Black." } }] } } : reply
  }),
  changing("takes no notice of max_tokens", CHAT, "maxTokens", (json) => ({
    ...json,
    usage: { ...json.usage, completion_tokens: 5120 }
  })),
  answering("looks at one image and no more", CHAT, "images", (request) => {
    const images = request.body.messages.flatMap(({ content }) =>
      typeof content === "string" ? [] : content.filter(({ image_url }) => image_url !== undefined)
    )
    return images.length > 1 ? refuse(400, "One image at most", "messages") : handlerOf(CHAT)(request)
  }),
  changing("makes an image and does not send it", IMAGE, "images", (json) =>
    json.data === undefined ? json : { data: [{ revised_prompt: "A red circle" }] }
  ),
  changing("starts a task and does not say which", IMAGE, "task", (json) =>
    json.id === undefined ? json : { status: "in_progress" }
  ),
  changing("leaves out how far an image is", "GET /v1/images/generations/{}", "status", (json) => ({
    ...json,
    status: json.status === "completed" ? json.status : undefined
  })),
  changing(
    "completes images without their urls",
    "GET /v1/images/generations/{}",
    "urls",
    ({ data, ...json }) => ({
      ...json,
      ...(data && { data: [{ revised_prompt: "A red circle" }] })
    })
  ),
  changing("makes four images when one is asked for", "POST /v1/images/generations", "one", (json) =>
    json.data === undefined ? json : { data: Array.from({ length: 4 }, () => json.data[0]) }
  ),
  changing("numbers videos in seconds", "POST /v1/videos", "form", (json) => ({ ...json, id: 7 })),
  changing("answers for another video", "GET /v1/videos/{}", "sameId", (json) => ({ ...json, id: "task-0" })),
  changing("has a status of its own", "GET /v1/videos/{}", "status", (json) => ({
    ...json,
    status: json.status === "in_progress" ? "processing" : json.status
  })),
  changing("fails a video and does not say why", "GET /v1/videos/{}", "error", (json) => ({
    ...json,
    status: json.status === "completed" ? "failed" : json.status
  })),
  answering("sends a page where the video should be", "GET /v1/videos/{}/content", "mp4", () => ({
    bytes: Buffer.from("<!doctype html><title>Your download will begin shortly</title>"),
    headers: { "content-type": "video/mp4" }
  })),
  answering("cuts the video after its head", "GET /v1/videos/{}/content", "whole", (request) => {
    const reply = handlerOf("GET /v1/videos/{}/content")(request)
    return reply.bytes === undefined ? reply : { ...reply, bytes: reply.bytes.subarray(0, 40) }
  }),
  admitting(
    "shows videos to everybody who knows their id",
    "GET /v1/videos/{}/content anonymous",
    (world, path, credential) =>
      opens(world, path, credential) || (path.endsWith("/content") && credential === "")
  ),
  answering("keeps videos that were deleted", "DELETE /v1/videos/{}", "gone", () => ({
    json: { deleted: true }
  })),
  admitting(
    "lets an API key read the account",
    "GET /api/user/self otherCredential",
    (world, path, credential) =>
      opens(world, path, credential) || (path === "/api/user/self" && opens(world, "/v1/", credential))
  ),
  changing("sends the balance as a text", "GET /api/user/self", "form", (json) => ({
    ...json,
    data: { ...json.data, quota: "$10.00" }
  })),
  changing("lists models by their names alone", "GET /api/models", "ids", (json) => ({
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
    "lets everybody embed",
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
  changing("leaves out who may use a token", "GET /api/token/{}", "data", (json) => ({
    ...json,
    data: json.data && { ...json.data, subnet: undefined }
  })),
  changing("finds nothing", "GET /api/token/search", "finds", (json) => ({ ...json, data: [] })),
  changing("makes tokens of a status of its own", "POST /api/token/", "fields", (json) => ({
    ...json,
    data: { ...json.data, status: 2 }
  })),
  answering("takes no notice of the size of a page", "GET /api/token/", "num", (request) =>
    handlerOf("GET /api/token/")({ ...request, query: new URLSearchParams() })
  ),
  answering("gives the first token for every id", "GET /api/token/{}", "sameId", (request) =>
    handlerOf("GET /api/token/{}")(
      request.world.tokens.has(Number(request.params[0])) ? { ...request, params: ["1"] } : request
    )
  ),
  answering("finds every token for every keyword", "GET /api/token/search", "only", (request) =>
    handlerOf("GET /api/token/search")({ ...request, query: new URLSearchParams() })
  ),
  changing("hides the key of a new token", "POST /api/token/", "key", (json) => ({
    ...json,
    data: { ...json.data, key: undefined }
  })),
  answering("forgets what a token may spend", "POST /api/token/", "asAsked", ({ body, ...rest }) =>
    handlerOf("POST /api/token/")({ ...rest, body: { ...body, remain_quota: 0 } })
  ),
  admitting(
    "makes keys that open nothing",
    "POST /api/token/ opens",
    (world, path, credential) =>
      opens(world, path, credential) && ![...world.tokens.values()].some(({ key }) => key === credential)
  ),
  answering("keeps the old name", "PUT /api/token/", "renames", (request) => {
    const name = request.world.tokens.get(request.body.id)?.name ?? ""
    return handlerOf("PUT /api/token/")({ ...request, body: { ...request.body, name } })
  }),
  answering("keeps what a token may spend", "PUT /api/token/", "quota", (request) => {
    const remain_quota = request.world.tokens.get(request.body.id)?.remain_quota ?? 0
    return handlerOf("PUT /api/token/")({ ...request, body: { ...request.body, remain_quota } })
  }),
  answering("keeps when a token expires", "PUT /api/token/", "expires", (request) => {
    const expired_time = request.world.tokens.get(request.body.id)?.expired_time ?? 0
    return handlerOf("PUT /api/token/")({ ...request, body: { ...request.body, expired_time } })
  }),
  answering("enables no token again", "PUT /api/token/", "enables", (request) =>
    handlerOf("PUT /api/token/")({ ...request, body: { ...request.body, status: 0 } })
  ),
  answering("disables no token", "PUT /api/token/", "disables", ({ body, ...rest }) =>
    handlerOf("PUT /api/token/")({ ...rest, body: { ...body, status: 1 } })
  ),
  admitting("lets disabled keys in", "PUT /api/token/ disabledKey", (world, path, credential) =>
    path.startsWith("/v1/")
      ? opens(world, path, credential) || [...world.tokens.values()].some(({ key }) => key === credential)
      : opens(world, path, credential)
  ),
  answering(
    "keeps tokens that were deleted",
    "DELETE /api/token/{}",
    "gone",
    forgetting("DELETE /api/token/{}", DONE)
  )
]

/** Not broken: it has had enough of rerank for now. */
export const limitedGateway: Gateway = {
  opens,
  calls: {
    ...calls,
    [RERANK]: () => ({ ...refuse(429, "Too many requests"), headers: { "retry-after": "0" } })
  }
}

/** It cannot be said whether it refuses a GIF or breaks over it. */
export const crashingGateway: Gateway = {
  opens,
  calls: {
    ...calls,
    [CHAT]: (request) => {
      const reply = handlerOf(CHAT)(request)
      return reply.status === 400 ? refuse(502, "The model did not answer") : reply
    }
  }
}

/** Not broken, as far as anybody can say: it refuses in the language of terminals. */
export const shoutingGateway: Gateway = {
  opens,
  calls: { ...calls, [RERANK]: () => refuse(500, "\u001b[2J\u001b]0;owned\u0007 no\r\nmore") }
}
