import { assert, layer } from "@effect/vitest"
import { apiKey, Gateway } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { Effect, Layer, Result } from "effect"
import { HttpClient } from "effect/http"
import { layerTransport } from "../../packages/core/src/client/Transport.ts"
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
const requests: Readonly<Record<string, Parameters<Gateway["Service"]["rerank"]>[0]>> = {
  usual: { model: "r", query: 'the "gate"\n', documents },
  "some of them": { model: "r", query: "gate", documents, topN: 2 },
  "with their documents": { model: "r", query: "gate", documents, returnDocuments: true },
  "no query": { model: "r", query: "", documents },
  "no model": { model: "", query: "gate", documents },
  "half a result": { model: "r", query: "gate", documents, topN: 1.5 },
  "half a character": { model: "r", query: "gate \ud83d", documents }
}
const answers: Readonly<Record<string, Behaviour>> = {
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
  "a score that is a text": scores([0, "1"], [1, 0], [2, 0]),
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

layer(LoopbackGateway.layer)("the direct way of rerank", (it) => {
  for (const [asked, request] of Object.entries(requests)) {
    for (const [answered, behaviour] of Object.entries(answers)) {
      it.effect(`sends and gives what the contract's way does: ${asked}, ${answered}`, () =>
        Effect.gen(function* () {
          const { seen } = yield* LoopbackGateway
          const told = []
          for (const client of yield* both) {
            const outcome = yield* Gateway.use((gateway) => gateway.rerank(request)).pipe(
              Effect.provideContext(client),
              Effect.result,
              Effect.map(Result.mapError((error) => JSON.stringify({ ...error, message: error.message }))),
              (call) => behaving(behaviour, call)
            )
            const sent = seen.map(({ body, headers, method, path }) => ({
              body,
              headers,
              method,
              path
            }))
            told.push({ outcome, sent })
          }
          assert.deepStrictEqual(told[0], told[1])
        }).pipe(Effect.scoped)
      )
    }
  }
})
