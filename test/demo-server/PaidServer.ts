/** A server in front of a test upstream, and the cost of its calls. */
import { assert } from "@effect/vitest"
import { ErrorBody } from "@sluice/core/contract"
import { Effect, Schedule, Schema } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { quotaOf } from "./AccountCalls.ts"
import { type CallOptions, startServer, temporaryFolder, type TestServer } from "./TestServer.ts"
import { type Responder, type ReceivedRequest, json, startUpstream } from "./Upstream.ts"

export type Server = TestServer["Service"]

/** One unit per token, so that the balance shows the counted tokens. */
const PRICES = {
  defaults: {
    embeddings: { inputPer1000Tokens: 1000 },
    rerank: { inputPer1000Tokens: 1000 },
    chat: { inputPer1000Tokens: 1000, outputPer1000Tokens: 1000 },
    images: { perImage: 100 },
    videos: { perSecond: 10 }
  },
  models: {
    "sluice-video-failing": { perSecond: 10 },
    "sluice-image-i5-task": { perImage: 100 },
    "sluice-image-i2": { perImage: 100 }
  }
}

/** The environment for a server with these prices. */
export const priced = Effect.map(temporaryFolder, (folder) => {
  const file = join(folder, "prices.json")
  writeFileSync(file, JSON.stringify(PRICES))
  return { SLUICE_PRICES: file }
})

/** Excludes the library's own embeddings calls at the start. */
const isFromTest = ({ body, path }: ReceivedRequest) => path !== "/v1/embeddings" || body.includes("three")

/** A server in front of an upstream. */
export const startPaidServer = Effect.fnUntraced(function* (
  respond: Responder,
  env: Record<string, string> = {}
) {
  const upstream = yield* startUpstream((response, received, request) =>
    isFromTest(received) ? respond(response, received, request) : json(response, vectors())
  )
  const environment = { ...upstream.env, ...(yield* priced), ...env }
  const server = yield* startServer({ env: environment })
  return { server, requests: () => upstream.requests.filter(isFromTest), env: environment }
})

/** What an effect costs, once it is settled. */
export const costs = Effect.fnUntraced(function* <A>(
  server: Server,
  effect: Effect.Effect<A>,
  expected: number
) {
  const had = yield* quotaOf(server)
  const result = yield* effect
  yield* Effect.repeat(quotaOf(server), {
    schedule: Schedule.spaced("10 millis"),
    until: (quota) => had - quota === expected
  }).pipe(Effect.timeoutOption("1 minute"))
  assert.strictEqual(had - (yield* quotaOf(server)), expected)
  return result
})

export const post = (server: Server, path: string, body: unknown, options: CallOptions = {}) =>
  Effect.flatMap(server.call(path, { json: body, ...options }), (response) =>
    Effect.map(
      Effect.promise(() => response.text()),
      (text) => ({ status: response.status, text, headers: response.headers })
    )
  )

export const codeOf = ({ text }: { readonly text: string }) =>
  Schema.decodeUnknownSync(ErrorBody)(JSON.parse(text)).error.code

export const embed = { model: "e", input: "one two three" }
export const vectors = (usage?: unknown) => ({
  object: "list",
  data: [{ index: 0, embedding: [1] }],
  model: "e",
  usage
})

export const chat = { model: "c", messages: [{ role: "user", content: "one two three" }], max_tokens: 50 }
/** 8 tokens for the message and 3 for its text. */
export const CHAT_INPUT = 11

/** Events as an upstream sends them. */
export const events = (response: Parameters<Responder>[0], ...data: ReadonlyArray<unknown>) => {
  response.writeHead(200, { "content-type": "text/event-stream" })
  for (const event of data)
    response.write(`data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`)
}
export const piece = (content: string) => ({ choices: [{ index: 0, delta: { content } }] })
