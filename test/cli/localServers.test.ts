/** `sluice models list` notices model servers on loopback. Their answers are those of their documentation. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { findLocalServers } from "../../apps/demo-server/src/providers/LocalServers.ts"
import { sluiceHere } from "./Launcher.ts"

const start = (answer: (request: IncomingMessage, response: ServerResponse) => void) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
      const server = createServer(answer)
      server.listen(0, "127.0.0.1", () => {
        const close = () => {
          server.closeAllConnections()
          server.close()
        }
        resume(Effect.succeed({ port: (server.address() as AddressInfo).port, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  ).pipe(Effect.map(({ port }) => port))

const answers = (path: string, body: unknown) =>
  start((request, response) => {
    const json = { "content-type": "application/json" }
    if (request.url === path) response.writeHead(200, json).end(JSON.stringify(body))
    else response.writeHead(404, json).end('{"error":"not found"}')
  })

const TAGS = {
  models: [
    { name: "gemma3", model: "gemma3", size: 3338801804, details: { format: "gguf", family: "gemma" } },
    { name: "nomic-embed-text:latest", size: 274302450, details: { family: "nomic-bert" } },
    { name: "snowflake", details: { family: "bert" } },
    { name: "odd\u001b[2J; rm -rf", size: 1, details: { family: "x" } }
  ]
}
const LM_STUDIO = {
  object: "list",
  data: [
    { id: "qwen2-vl-7b-instruct", object: "model", type: "vlm", state: "not-loaded" },
    { id: "text-embedding-nomic-embed-text-v1.5", object: "model", type: "embeddings" }
  ]
}
const LLAMA_CPP = {
  object: "list",
  data: [{ id: "models/gemma-4-12B-it-Q8_0.gguf", object: "model", owned_by: "llamacpp" }]
}
const TEI = { model_id: "BAAI/bge-m3", model_dtype: "float16", model_type: { embedding: { pooling: "cls" } } }

/** A port on which nothing listens. */
const closed = Effect.scoped(start(() => {}))

describe("model servers on this machine", () => {
  it.live("are noticed with what their models are for", () =>
    Effect.gen(function* () {
      const ports = {
        ollama: yield* answers("/api/tags", TAGS),
        lmstudio: yield* answers("/api/v0/models", LM_STUDIO),
        llamacpp: yield* answers("/v1/models", LLAMA_CPP),
        tei: yield* answers("/info", TEI)
      }
      const found = yield* findLocalServers(ports)
      assert.deepStrictEqual(
        found.map(({ models, name, url }) => [
          name,
          url,
          models.map(({ id, operation }) => `${operation} ${id}`)
        ]),
        [
          [
            "Ollama",
            `http://127.0.0.1:${ports.ollama}`,
            ["chat gemma3", "embeddings nomic-embed-text:latest", "embeddings snowflake"]
          ],
          [
            "LM Studio",
            `http://127.0.0.1:${ports.lmstudio}`,
            ["chat qwen2-vl-7b-instruct", "embeddings text-embedding-nomic-embed-text-v1.5"]
          ],
          ["llama.cpp", `http://127.0.0.1:${ports.llamacpp}`, ["chat models/gemma-4-12B-it-Q8_0.gguf"]],
          ["Text Embeddings Inference", `http://127.0.0.1:${ports.tei}`, ["embeddings BAAI/bge-m3"]]
        ]
      )
    }).pipe(Effect.scoped)
  )

  it.live("are only those: others, silent and closed ports are none", () =>
    Effect.gen(function* () {
      const other = { object: "list", data: [{ id: "gpt", object: "model", owned_by: "someone" }] }
      const ports = {
        ollama: yield* closed,
        lmstudio: yield* start(() => {}),
        llamacpp: yield* answers("/v1/models", other),
        tei: yield* start((_, response) => void response.end("<html>"))
      }
      assert.deepStrictEqual(yield* findLocalServers(ports), [])
    }).pipe(Effect.scoped)
  )

  it.live("are listed with the variables that use them", () =>
    Effect.gen(function* () {
      const nothing = yield* closed
      const list = (ollama: number, llamacpp: number) => {
        const ports = { ollama, lmstudio: nothing, llamacpp, tei: nothing }
        const flags = Object.entries(ports).flatMap(([name, port]) => ["--port", `${name}=${port}`])
        return Effect.promise(() => sluiceHere(["models", "list", ...flags]))
      }
      const [ollama, llamacpp] = [yield* answers("/api/tags", TAGS), yield* answers("/v1/models", LLAMA_CPP)]
      const { stderr, stdout } = yield* list(ollama, llamacpp)
      assert.strictEqual(stderr, "")
      assert.include(
        stdout,
        `Ollama is running at http://127.0.0.1:${ollama} with gemma3, nomic-embed-text:latest, snowflake.`
      )
      assert.include(
        stdout,
        `SLUICE_GATEWAY_URL=http://127.0.0.1:${ollama} SLUICE_API_KEY=none SLUICE_EMBEDDING_MODEL=nomic-embed-text:latest SLUICE_CHAT_MODEL=gemma3`
      )
      assert.notInclude(stdout, "\u001b")
      assert.include(stdout, "It has no embedding model")
      const wrong = yield* Effect.promise(() => sluiceHere(["models", "list", "--port", "olama=1", "--json"]))
      assert.include(JSON.parse(wrong.stdout).error.message, "Names: ollama, lmstudio, llamacpp, tei")
    }).pipe(Effect.scoped)
  )
})
