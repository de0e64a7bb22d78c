/**
 * Requests whole and broken, each sent as it takes the lane and as it cannot, to a server in front of an upstream: the
 * upstream is asked the same, and the caller hears the same.
 */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { request } from "node:http"
import { text } from "node:stream/consumers"
import type { Random } from "../../bench/Random.ts"
import { startServer } from "../demo-server/TestServer.ts"
import { json, startUpstream } from "../demo-server/Upstream.ts"
import { brokenText, brokenValue, type Sent } from "../fuzz/Broken.ts"
import { must, type Trial } from "./Trial.ts"

const REQUESTS = 300

const messages = [{ role: "user", content: "one two three" }]
const WHOLE: readonly [Whole, ...Array<Whole>] = [
  ["/v1/chat/completions", { model: "c", messages, max_tokens: 5, temperature: 0.5 }],
  ["/v1/embeddings", { model: "e", input: ["a", "b"], encoding_format: "float" }],
  ["/v1/rerank", { model: "r", query: "q", documents: ["a", "b"], top_n: 1, return_documents: true }]
]
type Whole = readonly [path: string, body: object]

/** What is of the moment, or of how the answer was sent. */
const CHANGING = new Set([
  "date",
  "x-request-id",
  "connection",
  "keep-alive",
  "content-length",
  "transfer-encoding"
])

/** Without a length it is no usual request. */
type Way = "lane" | "other"

const ask = async (url: string, headers: Record<string, string>, body: string | Uint8Array, way: Way) => {
  const bytes = Buffer.from(body)
  const framing = way === "lane" ? { "content-length": bytes.length } : { "transfer-encoding": "chunked" }
  const asking = request(url, { method: "POST", headers: { ...headers, ...framing } })
  const answered = new Promise<string>((resolve, reject) => {
    asking.on("error", reject).on("response", (response) => {
      const told = Object.entries(response.headers)
        .filter(([name]) => !CHANGING.has(name))
        .map(([name, value]) => [name, name.startsWith("x-ratelimit") ? "" : value])
        .toSorted()
      text(response).then((body) => resolve(JSON.stringify([response.statusCode, body, told])), reject)
    })
  })
  asking.end(bytes)
  return answered
}

const sentOf = (value: object, random: Random): Sent => {
  const roll = random.next()
  if (roll < 0.2) return { body: JSON.stringify(value), headers: { "content-type": "application/json" } }
  return roll < 0.75 ? brokenValue(value, random) : brokenText(value, random)
}

export const lane: Trial = (random) =>
  Effect.gen(function* () {
    const upstream = yield* startUpstream((response, { body, path }) => {
      const got = createHash("sha256").update(body).digest("hex")
      if (path.startsWith("/v1/models")) return json(response, {}, 404)
      // One in eight is refused, by what was asked.
      if (got.startsWith("0") || got.startsWith("1")) return json(response, { error: { message: got } }, 400)
      const results = [{ index: 0, relevance_score: 0.5 }]
      const data = [{ index: 0, embedding: [1] }]
      const choices = [{ index: 0, message: { role: "assistant", content: "x" } }]
      return json(response, {
        got,
        path,
        results,
        data,
        choices,
        usage: { prompt_tokens: 2, total_tokens: 3 }
      })
    })
    const server = yield* startServer({ env: { ...upstream.env, SLUICE_REQUESTS_PER_MINUTE: "1000000" } })
    for (let at = 0; at < REQUESTS; at++) {
      const [path, value] = random.pick(WHOLE)
      const { body, headers: given } = sentOf(value, random)
      if (body === undefined) continue
      const headers = { authorization: `Bearer ${server.secrets.apiKey}`, ...given }
      const both = (["lane", "other"] as const).map((way) => ask(server.url + path, headers, body, way))
      const [one, other] = yield* Effect.promise(() => Promise.all(both))
      must(one === other, () => `${path} ${String(body).slice(0, 300)}: ${one} by the lane, else ${other}`)
    }
  }).pipe(Effect.scoped, Effect.runPromise)
