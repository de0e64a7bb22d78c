import { assert, layer } from "@effect/vitest"
import { apiKey, Gateway, type GatewayError } from "@sluice/core"
import { toBase64 } from "@sluice/core/contract"
import { GatewayClient } from "@sluice/core/client"
import { Effect, Layer, Result } from "effect"
import { HttpClient } from "effect/http"
import { layerTransport } from "../../packages/core/src/client/transport/Transport.ts"
import { behaving, KEY, once } from "./Clients.ts"
import { type Behaviour, json, LoopbackGateway, model, openAi, refuse, scores } from "./LoopbackGateway.ts"

const options = { apiKey: apiKey(KEY), ...once }

/** The same client twice: over a transport that offers the direct way, and over one of which only `HttpClient` is seen. */
const both = Effect.gen(function* () {
  const { url } = yield* LoopbackGateway
  const baseUrl = `${url}/v1/`
  const direct = yield* Layer.build(GatewayClient.layer({ baseUrl, ...options }))
  const client = yield* Layer.build(layerTransport(once))
  const contract = yield* Layer.build(
    GatewayClient.layerWithoutTransport({ baseUrl, ...options }).pipe(
      Layer.provide(Layer.effect(HttpClient.HttpClient, Effect.provideContext(HttpClient.HttpClient, client)))
    )
  )
  return [direct, contract] as const
})

const documents = ["a gate", "a lock of the gate", "Schleuse 水闸 \u{1f6a4}"]
const input = documents
type Ask = (gateway: Gateway["Service"]) => Effect.Effect<unknown, GatewayError>
const rerank =
  (request: Parameters<Gateway["Service"]["rerank"]>[0]): Ask =>
  (gateway) =>
    gateway.rerank(request)
const embed =
  (request: Parameters<Gateway["Service"]["embeddings"]>[0]): Ask =>
  (gateway) =>
    gateway.embeddings(request)

const reranks: Readonly<Record<string, Ask>> = {
  usual: rerank({ model: "r", query: 'the "gate"\n', documents }),
  "some of them": rerank({ model: "r", query: "gate", documents, topN: 2 }),
  "with their documents": rerank({ model: "r", query: "gate", documents, returnDocuments: true }),
  "no query": rerank({ model: "r", query: "", documents }),
  "no model": rerank({ model: "", query: "gate", documents }),
  "half a result": rerank({ model: "r", query: "gate", documents, topN: 1.5 }),
  "fewer than none": rerank({ model: "r", query: "gate", documents, topN: -1 }),
  "half a character": rerank({ model: "r", query: "gate \ud83d", documents })
}
const embeds: Readonly<Record<string, Ask>> = {
  usual: embed({ model: "e", input }),
  "in another order of words": embed({ model: "e", input: ["", ...input.toReversed()] }),
  "no text": embed({ model: "e", input: [] }),
  "no model": embed({ model: "", input }),
  "half a character": embed({ model: "e", input: ["gate \ud83d"] })
}

const rankings: Readonly<Record<string, Behaviour>> = {
  ranked: model,
  "more than the interface names": (_, response) =>
    json(response, {
      id: "rr-1",
      model: "r-2",
      results: documents.map((text, index) => ({
        index,
        relevance_score: index,
        document: { text, page: 1 }
      })),
      meta: { billed: 1 },
      usage: { total_tokens: 3 },
      cost: 7
    }),
  "a score missing": scores([0, 1]),
  "a score twice": scores([0, 1], [0, 1], [1, 1]),
  "a score that is a text": scores([0, "1"], [1, 0], [2, 0])
}

/** Vectors of texts by their places. */
const vectors =
  (...data: ReadonlyArray<readonly [index: unknown, embedding: unknown]>): Behaviour =>
  (_, response) =>
    json(response, { data: data.map(([index, embedding]) => ({ index, embedding })) })
const [one, two, wide] = [
  [1, 0],
  [0.5, -1],
  [1, 2, 3]
].map((vector) => toBase64(Float32Array.from(vector)))
const embeddings: Readonly<Record<string, Behaviour>> = {
  embedded: model,
  "in another order": vectors([2, one], [0, two], [1, two]),
  "as numbers": vectors([0, [1, 0]], [1, [0, 1]], [2, [0.5, 0.25]]),
  "more than the interface names": (_, response) =>
    json(response, {
      object: "list",
      model: "e-2",
      data: input.map((_, index) => ({ object: "embedding", index, embedding: one, of: "a text" })),
      usage: { prompt_tokens: 3, total_tokens: 5 },
      cost: 7
    }),
  "a vector missing": vectors([0, one], [1, two]),
  "a vector twice": vectors([0, one], [0, two], [1, two]),
  "a place that is none": vectors([0, one], [1, two], [3, two]),
  "another dimension": vectors([0, one], [1, two], [2, wide]),
  "half a number": vectors([0, one], [1, two], [2, "AAA="]),
  "no numbers": vectors([0, ""], [1, ""], [2, ""]),
  "no finite number": vectors([0, one], [1, two], [2, toBase64(Float32Array.of(1, Number.NaN))])
}

const failures: Readonly<Record<string, Behaviour>> = {
  "no JSON": (_, response) => json(response, "<html>no</html>"),
  "no content": (_, response) => response.writeHead(204).end(),
  "another success": (_, response) => json(response, { results: [] }, 201),
  refused: refuse(400, openAi({ message: `no ${KEY}`, param: "query" }), { "x-request-id": "req-9" }),
  "refused in a 200": (_, response) => json(response, openAi({ code: "insufficient_user_quota" })),
  busy: refuse(429, "", { "retry-after": "7" }),
  "compressed all the same": (_, response) => json(response, "no gzip", 200, { "content-encoding": "gzip" }),
  "led elsewhere": (_, response) => response.writeHead(307, { location: "http://127.0.0.1:1/" }).end(),
  "broken off": (_, response) => {
    response.writeHead(200, { "content-length": "100" })
    response.write("{", () => response.destroy())
  }
}

const calls = [
  ["rerank", reranks, rankings],
  ["embeddings", embeds, embeddings]
] as const

for (const [name, requests, answers] of calls) {
  layer(LoopbackGateway.layer)(`the direct way of ${name}`, (it) => {
    for (const [asked, ask] of Object.entries(requests)) {
      it.effect(`sends and gives what the contract's way does: ${asked}`, () =>
        Effect.gen(function* () {
          const { seen } = yield* LoopbackGateway
          const clients = yield* both
          for (const [answered, behaviour] of Object.entries({ ...answers, ...failures })) {
            const told = []
            for (const client of clients) {
              const outcome = yield* Gateway.use(ask).pipe(
                Effect.provideContext(client),
                Effect.result,
                Effect.map(Result.mapError((error) => JSON.stringify({ ...error, message: error.message }))),
                (call) => behaving(behaviour, call)
              )
              const sent = seen.map(({ body, headers, method, path }) => ({ body, headers, method, path }))
              told.push({ outcome, sent })
            }
            assert.deepStrictEqual(told[0], told[1], answered)
          }
        }).pipe(Effect.scoped)
      )
    }
  })
}
