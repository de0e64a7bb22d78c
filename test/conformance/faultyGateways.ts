/** Gateways with several faults, and gateways that are limited. */
import {
  type Gateway,
  type Handler,
  handlerOf,
  MODELS,
  referenceGateway,
  refuse
} from "./ReferenceGateway.ts"
import type { FakeRequestBody as Body } from "../../packages/core/src/testing/ReferenceGateway.ts"
import { faultOf } from "./requestFaults.ts"

const { calls, opens } = referenceGateway

// The responses of the reference gateway, whose form is known.
type Json = any // oxlint-disable-line typescript/no-explicit-any

const RERANK = "POST /v1/rerank"
const EMBED = "POST /v1/embeddings"
const CHAT = "POST /v1/chat/completions"
const IMAGE = "POST /v1/images/generations"
const VIDEO = "POST /v1/videos"

/** Requests without a fault. */
const ALLOWED: Readonly<Record<string, Partial<Body>>> = {
  [RERANK]: { model: MODELS.rerank, query: "lock", documents: ["lock"] },
  [EMBED]: { model: MODELS.embedding, input: "lock" },
  [CHAT]: { model: MODELS.chat, messages: [{ content: "lock" }] },
  [IMAGE]: { model: MODELS.image, prompt: "lock" },
  [VIDEO]: { model: MODELS.video, prompt: "lock" }
}

const allowed = (call: string, body: Body) => ({ ...(ALLOWED[call] ?? { ...body, status: 1 }) }) as Body

/** It replaces what is not allowed. */
export const carelessGateway: Gateway = {
  opens,
  calls: Object.fromEntries(
    Object.entries(calls).map(([call, handler]): [string, Handler] => [
      call,
      (request) =>
        handler(
          faultOf(call, request.body) === undefined
            ? request
            : { ...request, body: allowed(call, request.body) }
        )
    ])
  )
}

/** A proxy in front of another gateway: it passes on what it knows, drops the rest, and takes its share. */
export const proxyGateway: Gateway = {
  opens: (world, path, credential) =>
    path.startsWith("/v1/")
      ? opens(world, path, credential) ||
        [...world.tokens.values()].some(({ key, status }) => key === credential && status === 1)
      : opens(world, path, credential),
  charges: ({ status }) => (status === undefined ? 10_000 : 100),
  calls: {
    ...calls,
    [EMBED]: (request) => {
      const reply = handlerOf(EMBED)(request)
      const usage = { prompt_tokens: 2_000, total_tokens: 2_000 }
      return reply.status === undefined ? { json: { ...(reply.json as object), usage } } : reply
    },
    [IMAGE]: ({ body: { model, prompt }, ...rest }: Json) =>
      handlerOf(IMAGE)({ ...rest, body: { model, prompt } }),
    [VIDEO]: ({ body: { model, prompt }, ...rest }: Json) =>
      handlerOf(VIDEO)({ ...rest, body: { model, prompt } }),
    "GET /api/user/available_models": () => ({
      json: { success: true, message: "", data: [{ id: "of-the-upstream" }] }
    })
  }
}

/** The rules that the proxy breaks. */
export const PROXY_BREAKS: ReadonlyArray<string> = [
  "GET /api/user/available_models within",
  `${EMBED} tokens`,
  ...["several", "pixels", "format", "most", "least", "whole", "size", "quality"].map(
    (rule) => `${IMAGE} ${rule}`
  ),
  ...["input_fidelity", "moderation", "output_format"].map((rule) => `${IMAGE} ${rule}`),
  ...["seconds", "groupSeconds", "size", "groupSize", "reference"].map((rule) => `${VIDEO} ${rule}`),
  ...["subnet", "usedUp", "expired", "free", "charge"].map((rule) => `POST /api/token/ ${rule}`)
]

/** Its videos are never queued. */
export const startingGateway: Gateway = {
  opens,
  calls: {
    ...calls,
    ...Object.fromEntries(
      [VIDEO, "GET /v1/videos/{}"].map((call): [string, Handler] => [
        call,
        (request) => {
          const reply = handlerOf(call)(request)
          const json = reply.json as Json
          return json.status === "queued" ? { json: { ...json, status: "in_progress" } } : reply
        }
      ])
    )
  }
}

/** Correct: it responds to rerank with 429. */
export const limitedGateway: Gateway = {
  opens,
  calls: {
    ...calls,
    [RERANK]: () => ({ ...refuse(429, "Too many requests"), headers: { "retry-after": "0" } })
  }
}

/** It responds to a GIF with 500. */
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

/** Its refusals have terminal control characters. */
export const shoutingGateway: Gateway = {
  opens,
  calls: { ...calls, [RERANK]: () => refuse(500, "\u001b[2J\u001b]0;owned\u0007 no\r\nmore") }
}
