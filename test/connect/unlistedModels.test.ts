/** A server that starts while the vendor is down that lists its models. */
import { assert, describe, it } from "@effect/vitest"
import { ModelsResponse } from "@sluice/core/contract"
import { type Duration, Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { AnswerBody, ServerStatus } from "../../apps/demo-server/src/contract/index.ts"
import { refusal } from "../demo-server/Loopback.ts"
import { errorOf, filesOf, startServer, temporaryFolder, type TestServer } from "../demo-server/TestServer.ts"
import { answersAsOpenAi, OPENAI_KEY, startFakeOpenAi } from "./FakeOpenAi.ts"

const Ready = Schema.Struct({ config: Schema.String })
const CHAT = "/v1/chat/completions"
const messages = [{ role: "user", content: "hello" }]
const question = { json: { question: "Where does the heron wait?" } }

const idsOf = (server: TestServer["Service"]) =>
  Effect.map(server.json(ModelsResponse, "/v1/models"), ({ data }) => data.map(({ id }) => id))

const printed = (server: TestServer["Service"], text: string) =>
  server.printed.filter((line) => line.includes(text)).length

/** Lets time pass until something has happened. Requests take real time. */
const passing = <A>(step: Duration.Input, look: Effect.Effect<A>, isSo: (seen: A) => boolean) =>
  TestClock.adjust(step).pipe(
    Effect.andThen(TestClock.withLive(Effect.sleep("20 millis"))),
    Effect.andThen(look),
    Effect.repeat({ until: isSo })
  )

const listed = (server: TestServer["Service"]) =>
  passing("15 seconds", idsOf(server), (ids) => ids.includes("gpt-image-1"))

/** A vendor that is down. */
const startDown = Effect.tap(startFakeOpenAi, (openAi) =>
  Effect.sync(() => openAi.behave(refusal(503, "We are down")))
)

describe("an upstream whose vendor is down at the start", () => {
  it.effect("has its models as soon as the vendor answers, and calls say until then what is missing", () =>
    Effect.gen(function* () {
      const openAi = yield* startDown
      const file = join(yield* temporaryFolder, "sluice.config.json")
      const upstream = { dialect: "openai", url: openAi.url, apiKey: { env: "KEY" } }
      const library = { embedding: "text-embedding-3-small", chat: "gpt-4o-mini" }
      writeFileSync(file, JSON.stringify({ upstreams: [upstream], embedded: true, library }))
      const env = { SLUICE_CONFIG: file, KEY: OPENAI_KEY }
      const starting = yield* Effect.forkScoped(startServer({ env }))
      // The library waits two seconds for the vendor.
      yield* passing(
        "1 second",
        Effect.sync(() => starting.pollUnsafe()),
        (exit) => exit !== undefined
      )
      const server = yield* Fiber.join(starting)

      assert.strictEqual(printed(server, "The models of `openai` could not be listed: status 503"), 1)
      const { config } = yield* server.json(Ready, "/readyz")
      const status = yield* server.json(ServerStatus, "/status")
      assert.include(config, "The models of `openai` are not known yet")
      // The names of the library's models are known.
      assert.deepInclude(status.models, library)
      const unknown = yield* server.call(CHAT, { json: { model: "gpt-4o", messages } })
      assert.strictEqual(unknown.status, 503)
      assert.strictEqual(unknown.headers.get("retry-after"), "15")
      const { message } = yield* errorOf(unknown)
      assert.include(message, "The models of `openai` are not known yet, because the vendor does not answer")
      assert.notInclude(message, openAi.url)
      const named = yield* server.call(CHAT, { json: { model: "gpt-4o-mini", messages } })
      assert.include((yield* errorOf(named)).message, "We are down")

      const asked = Effect.sync(() => openAi.requests.filter(({ path }) => path === "/v1/models").length)
      const before = yield* asked
      yield* passing("15 seconds", asked, (now) => now > before)
      assert.strictEqual(printed(server, "could not be listed"), 1)

      openAi.behave(answersAsOpenAi)
      assert.includeMembers(yield* listed(server), ["gpt-4o-mini", "text-embedding-3-large"])
      assert.strictEqual((yield* server.call(CHAT, { json: { model: "gpt-4o-mini", messages } })).status, 200)
      assert.strictEqual((yield* server.json(Ready, "/readyz")).config, "ok")
      assert.strictEqual(printed(server, "`openai` lists gpt-4o-mini (chat)"), 1)

      // Known models stay while the vendor is down again.
      openAi.behave(refusal(503, "We are down"))
      yield* TestClock.adjust("1 minute")
      assert.include(yield* idsOf(server), "gpt-image-1")
      // A change of the request needs a new list.
      const changed = { upstreams: [{ ...upstream, query: { v: "2" } }], embedded: true, library }
      writeFileSync(file, JSON.stringify(changed))
      const rejections = Effect.sync(() => printed(server, "was not reloaded: the models of `openai`"))
      yield* passing("1 second", rejections, (count) => count > 0)
      assert.include(yield* idsOf(server), "gpt-image-1")
    }).pipe(Effect.scoped)
  )

  it.effect("is not taken for the previous models of a library that was built with others", () =>
    Effect.gen(function* () {
      const data = yield* temporaryFolder
      yield* Effect.gen(function* () {
        const before = yield* startServer({ data })
        const files = filesOf({ "birds.md": "# Birds\n\nThe heron waits at the weir." })
        assert.strictEqual((yield* before.call("/documents", { body: files })).status, 200)
      }).pipe(Effect.scoped)
      const openAi = yield* startDown
      const env = { OPENAI_BASE_URL: `${openAi.url}/v1`, OPENAI_API_KEY: OPENAI_KEY }
      const server = yield* startServer({ data, env })
      assert.strictEqual((yield* server.json(ServerStatus, "/status")).state, "unavailable")
      openAi.behave(answersAsOpenAi)
      yield* passing(
        "15 seconds",
        server.json(ServerStatus, "/status"),
        ({ models, state }) => models.chat === "gpt-4o-mini" && state === "rebuild-needed"
      )
      const { message } = yield* server.json(ServerStatus, "/status", { as: "session" })
      assert.notInclude(message, "previous models")
    }).pipe(Effect.scoped)
  )

  it.effect("does not get the embedded models in the library, where the library is its", () =>
    Effect.gen(function* () {
      const openAi = yield* startDown
      const env = { OPENAI_BASE_URL: `${openAi.url}/v1`, OPENAI_API_KEY: OPENAI_KEY }
      const server = yield* startServer({ env })
      const { message, provider, state } = yield* server.json(ServerStatus, "/status")
      assert.deepStrictEqual([provider, state], ["gateway", "unavailable"])
      assert.include(message, "The models of `openai` are not known yet")
      const refused = yield* server.call("/qa", question)
      assert.strictEqual(refused.status, 503)
      assert.include((yield* errorOf(refused)).message, "The models of `openai` are not known yet")
      // Its models cannot be named, so they are not written into a file either.
      const local = { method: "PUT", json: { set: null }, as: "token" } as const
      const saved = yield* server.call("/api/local-models", local)
      assert.include((yield* errorOf(saved)).message, "The models of `openai` are not known yet")

      openAi.behave(answersAsOpenAi)
      yield* listed(server)
      const files = filesOf({ "birds.md": "# Birds\n\nThe heron waits at the weir." })
      assert.strictEqual((yield* server.call("/documents", { body: files })).status, 200)
      assert.strictEqual(
        (yield* server.json(AnswerBody, "/qa", question)).answer,
        "It waits at the weir. [1]"
      )
    }).pipe(Effect.scoped)
  )
})
