/** A server with nothing but `OPENAI_BASE_URL` and `OPENAI_API_KEY`, and the models of its library. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule, Schema } from "effect"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { AnswerBody, ServerStatus } from "../../apps/demo-server/src/contract/index.ts"
import { failedStart, filesOf, startServer, temporaryFolder } from "../demo-server/TestServer.ts"
import { OPENAI_KEY, startFakeOpenAi } from "./FakeOpenAi.ts"

const Drawn = Schema.Struct({ data: Schema.Array(Schema.Struct({ b64_json: Schema.String })) })

const birds = () => filesOf({ "birds.md": "# Birds\n\nThe heron waits at the weir." })
const question = { json: { question: "Where does the heron wait?" } }

describe("OPENAI_BASE_URL and OPENAI_API_KEY", () => {
  it.live("are enough: upload, ask, a cited answer, an image", () =>
    Effect.gen(function* () {
      const openAi = yield* startFakeOpenAi
      const server = yield* startServer({
        env: { OPENAI_BASE_URL: `${openAi.url}/v1`, OPENAI_API_KEY: OPENAI_KEY }
      })
      const { demo, models } = yield* server.json(ServerStatus, "/status")
      assert.deepStrictEqual(
        [demo, models.embedding, models.chat, models.vision],
        [false, "text-embedding-3-small", "gpt-4o-mini", "gpt-4o-mini"]
      )
      assert.strictEqual((yield* server.call("/documents", { body: birds() })).status, 200)
      const answer = yield* server.json(AnswerBody, "/qa", question)
      assert.strictEqual(answer.answer, "It waits at the weir. [1]")
      assert.strictEqual(answer.citations[0]?.document, "birds.md")
      const image = yield* server.json(Drawn, "/v1/images/generations", {
        json: { model: "gpt-image-1", prompt: "a heron" }
      })
      assert.isAbove(image.data[0]?.b64_json.length ?? 0, 0)
      const asked = new Set(openAi.requests.map(({ path }) => path))
      assert.sameMembers(
        [...asked],
        ["/v1/models", "/v1/embeddings", "/v1/chat/completions", "/v1/images/generations"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("have no effect alone: a key in the environment does not send documents anywhere", () =>
    Effect.gen(function* () {
      const server = yield* startServer({ env: { OPENAI_API_KEY: OPENAI_KEY } })
      assert.isTrue((yield* server.json(ServerStatus, "/status")).demo)
    }).pipe(Effect.scoped)
  )

  it.live("with a wrong key fail the start with the vendor's reason, without the key", () =>
    Effect.gen(function* () {
      const openAi = yield* startFakeOpenAi
      const { code, printed } = yield* failedStart(yield* temporaryFolder, {
        OPENAI_BASE_URL: openAi.url,
        OPENAI_API_KEY: "sk-wrong-0123456789abcdef"
      })
      assert.strictEqual(code, 1)
      assert.match(printed, /OPENAI_BASE_URL and OPENAI_API_KEY: .*Incorrect API key provided/)
      assert.notMatch(printed, /config\.json|`models`/)
      assert.notInclude(printed, "sk-wrong")
    }).pipe(Effect.scoped)
  )
})

describe("a file in the data folder", () => {
  it.live("that appears while the server runs replaces the library's models", () =>
    Effect.gen(function* () {
      const openAi = yield* startFakeOpenAi
      const server = yield* startServer({ env: { KEY: OPENAI_KEY } })
      assert.strictEqual((yield* server.call("/documents", { body: birds() })).status, 200)
      const upstream = { dialect: "openai", url: openAi.url, apiKey: { env: "KEY" } }
      const file = join(server.data, "connections", "sluice.config.json")
      yield* Effect.promise(() => mkdir(join(server.data, "connections"), { recursive: true }))
      const write = (library: object) =>
        Effect.promise(() =>
          writeFile(file, JSON.stringify({ upstreams: [upstream], embedded: true, library }))
        )
      const status = (expected: (now: ServerStatus) => boolean) =>
        Effect.repeat(server.json(ServerStatus, "/status"), {
          schedule: Schedule.spaced("20 millis"),
          until: expected
        })

      yield* write({ chat: "gpt-4o-mini" })
      const answering = yield* status(({ models }) => models.chat === "gpt-4o-mini")
      assert.deepStrictEqual(
        [answering.state, answering.provider, answering.demo],
        ["ready", "gateway", false]
      )
      assert.strictEqual(
        (yield* server.json(AnswerBody, "/qa", question)).answer,
        "It waits at the weir. [1]"
      )

      // Another embedding model needs a rebuild.
      yield* write({ chat: "gpt-4o-mini", embedding: "text-embedding-3-small" })
      yield* status(({ state }) => state === "rebuild-needed")
      yield* server.call("/rebuild", { method: "POST" })
      yield* status(({ state }) => state === "ready")
      assert.strictEqual((yield* server.json(AnswerBody, "/qa", question)).citations[0]?.document, "birds.md")
    }).pipe(Effect.scoped)
  )
})
