/** Gateways that are broken on purpose, one way each, and the one rule that each of them breaks. */
import {
  type Gateway,
  type Handler,
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

const handlerOf = (call: string): Handler => {
  const handler = calls[call]
  if (handler === undefined) throw new Error(`There is no ${call}`)
  return handler
}

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
  changing("returns each document beside its neighbour's index", RERANK, "documents", ({ results }) => ({
    results: each(results, (result: Json, nth) => ({ ...result, document: results[(nth + 1) % 3]?.document }))
  })),
  changing("sends scores as texts", RERANK, "form", ({ results }) => ({
    results: each(results, (result: Json) => ({ ...result, relevance_score: String(result.relevance_score) }))
  })),
  changing("leaves the last text out", EMBED, "count", (json) => ({
    ...json,
    data: json.data.slice(0, Math.max(1, json.data.length - 1))
  })),
  changing("numbers vectors in the order in which they were ready", EMBED, "order", (json) => ({
    ...json,
    data: each(json.data, (entry: Json, nth) => ({ ...entry, index: json.data.length - 1 - nth }))
  })),
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
    usage: { ...json.usage, completion_tokens: 512 }
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

/** Not broken, as far as anybody can say: it refuses in the language of terminals. */
export const shoutingGateway: Gateway = {
  opens,
  calls: { ...calls, [RERANK]: () => refuse(500, "\u001b[2J\u001b]0;owned\u0007 no\r\nmore") }
}
