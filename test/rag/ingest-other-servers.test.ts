/** A library works with self-hosted embedding servers, which differ from OpenAI in details. */
import { assert, describe, it } from "@effect/vitest"
import { apiKey, GatewayEmbedder, GatewayError, Unauthorized } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { Library } from "@sluice/rag"
import { Context, Effect, Layer } from "effect"
import { modelError } from "../../packages/rag/src/embedding/PassageEmbedder.ts"
import { type Behaviour, embed, json, LoopbackGateway } from "../core/LoopbackGateway.ts"
import { readerLayer, rerankerLayer } from "./Models.ts"
import { handbook, testFolder } from "./TestFolder.ts"

const PREFIXES = { query: "search_query: ", passage: "search_document: " }

/** Vectors always as numbers; no usage, or a part of it; extra fields. */
const servers: ReadonlyArray<readonly [name: string, around: (data: ReadonlyArray<object>) => object]> = [
  ["Ollama", (data) => ({ object: "list", data, model: "nomic-embed-text" })],
  [
    "vLLM",
    (data) => ({
      id: "embd-1",
      object: "list",
      created: 1_700_000_000,
      model: "e5",
      data,
      usage: { prompt_tokens: 7, total_tokens: 7, completion_tokens: 0, prompt_tokens_details: null }
    })
  ],
  ["TEI", (data) => ({ object: "list", data, model: "BAAI/bge-m3", usage: { prompt_tokens: 7 } })]
]

const answering =
  (around: (data: ReadonlyArray<object>) => object): Behaviour =>
  ({ body, method, path }, response) => {
    if (method !== "POST" || path !== "/v1/embeddings") return json(response, { error: "404" }, 404)
    json(
      response,
      around(body.input.map((text, index) => ({ object: "embedding", index, embedding: [...embed(text)] })))
    )
  }

describe("a self-hosted embedding server", () => {
  for (const [name, around] of servers)
    it.effect(`that responds as ${name} does serves a library, under /v1 and with prefixes`, () =>
      Effect.gen(function* () {
        const gateway = Context.get(yield* Layer.build(LoopbackGateway.layer), LoopbackGateway)
        gateway.behave(answering(around))
        const { docs, library: at } = yield* handbook
        const modelsOf = (url: string, prefixes = PREFIXES, hasInputType = false) =>
          Layer.mergeAll(
            GatewayEmbedder.layer({ model: "local", prefixes, hasInputType }).pipe(
              Layer.provide(GatewayClient.layer({ baseUrl: url, apiKey: apiKey("sk-none") }))
            ),
            rerankerLayer,
            readerLayer
          )
        yield* Effect.gen(function* () {
          const library = yield* Library.open(at)
          assert.deepStrictEqual((yield* library.ingest(docs)).failed, [])
          assert.strictEqual((yield* library.stats).dimension, 64)
          assert.isTrue((yield* library.ask("Who holds the key to the boiler room?")).found)
          const sent = gateway.seen.flatMap(({ body }) => body.input)
          assert.strictEqual(sent.filter((text) => text.startsWith(PREFIXES.passage)).length, 3)
          assert.include(sent, `${PREFIXES.query}Who holds the key to the boiler room?`)
          assert.strictEqual((yield* library.ingest(docs)).unchanged, 3)
        }).pipe(Effect.provide(modelsOf(gateway.url)), Effect.scoped)
        // The URL as such servers print it. Other prefixes make another model.
        yield* Effect.scoped(Library.open(at)).pipe(Effect.provide(modelsOf(`${gateway.url}/v1/`)))
        const other = yield* Effect.flip(
          Effect.scoped(Library.open(at)).pipe(
            Effect.provide(modelsOf(gateway.url, { ...PREFIXES, query: "query: " }))
          )
        )
        assert.strictEqual(other.reason, "ManifestMismatch")
        assert.include(other.message, "search_query: ")
        // So do input types.
        const typed = yield* Effect.flip(
          Effect.scoped(Library.open(at)).pipe(Effect.provide(modelsOf(gateway.url, PREFIXES, true)))
        )
        assert.strictEqual(typed.reason, "ManifestMismatch")
        assert.include(typed.message, "local with input types")
      }).pipe(Effect.scoped)
    )

  it.effect("that accepts 32 texts at a time, or rejects one of them, loses no other text", () =>
    Effect.gen(function* () {
      const gateway = Context.get(yield* Layer.build(LoopbackGateway.layer), LoopbackGateway)
      const refused: Array<number> = []
      gateway.behave((seen, response, nth) => {
        const { input } = seen.body
        const error =
          input.length > 32
            ? `batch size ${input.length} > maximum allowed batch size 32`
            : input.some((text) => text.includes("endless"))
              ? "`inputs` must have less than 512 tokens. Given: 900"
              : undefined
        if (error === undefined) return answering((data) => ({ data }))(seen, response, nth)
        refused.push(input.length)
        json(response, { error, error_type: "Validation" }, 413)
      })
      const { docs, library: at, write } = yield* testFolder
      const notes = (from: number, to: number) =>
        Effect.forEach(
          Array.from({ length: to - from }, (_, i) => from + i),
          (i) => write(`docs/${i}.md`, `Note ${i} is of ${i === 70 ? "endless" : "some"} length.`)
        )
      yield* notes(0, 150)
      yield* Effect.gen(function* () {
        const library = yield* Library.open(at)
        const { added, failed } = yield* library.ingest(docs)
        assert.deepStrictEqual([added, failed.map(({ path }) => path)], [149, ["70.md"]])
        assert.include(
          failed[0]?.error.message,
          "`inputs` must have less than 512 tokens. Given: 900. Correct"
        )
        refused.length = 0
        yield* notes(150, 250)
        assert.strictEqual((yield* library.ingest(docs)).added, 100)
        assert.isBelow(Math.max(...refused), 33)
      }).pipe(
        Effect.provide([
          GatewayEmbedder.layer({ model: "local" }).pipe(
            Layer.provide(GatewayClient.layer({ baseUrl: gateway.url, apiKey: apiKey("sk-none") }))
          ),
          rerankerLayer,
          readerLayer
        ])
      )
    }).pipe(Effect.scoped)
  )

  it("that fails gives an error that says what failed and what to do", () => {
    for (const message of ["no key", "no key."]) {
      const refused = new GatewayError({ operation: "embeddings", reason: new Unauthorized({ message }) })
      assert.match(modelError("open")(refused).message, /: no key\. [^.]+\.$/)
    }
  })
})
