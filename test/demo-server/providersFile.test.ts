/** `sluice.config.json`: validation messages, and reloads under load. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, FileSystem, Schedule, Schema } from "effect"
import { decodeProvidersFile } from "../../apps/demo-server/src/providers/ProvidersFile.ts"
import { json, type Loopback, loopback } from "./Loopback.ts"
import { startServer, temporaryFolder } from "./TestServer.ts"

const canary = "sk-canary-of-the-file"
const key = { env: "UPSTREAM_KEY" }
const models = [{ id: "rank", operation: "rerank" }]
const file = (...upstreams: ReadonlyArray<object>) => JSON.stringify({ upstreams })
const one = { id: "a", url: "http://127.0.0.1:9", apiKey: key, models }

describe("the providers' file", () => {
  const refused: ReadonlyArray<readonly [name: string, text: string, said: string]> = [
    ["invalid JSON", "{", "not valid JSON"],
    ["an unknown key", JSON.stringify({ upstream: [] }), "`upstream` is an unknown key"],
    ["an unknown key of an upstream", file({ ...one, wieght: 2 }), "`upstreams[0].wieght` is an unknown key"],
    [
      "an unknown key of a model",
      file({ ...one, models: [{ ...models[0], alias: "x" }] }),
      "`upstreams[0].models[0].alias` is an"
    ],
    ["a credential in place", file({ ...one, apiKey: canary }), '{ "env": NAME }'],
    ["two places of one", file({ ...one, apiKey: { env: "A", file: "b" } }), '{ "env": NAME }'],
    ["no credential", file({ ...one, apiKey: {} }), '{ "env": NAME }'],
    ["a credential in the address", file({ ...one, url: `http://u:${canary}@host` }), "without a credential"],
    ["no address", file({ ...one, url: "ftp://host" }), "http or https"],
    [
      "an operation that there is not",
      file({ ...one, models: [{ id: "m", operation: "speech" }] }),
      "operation"
    ],
    ["a weight of nothing", file({ ...one, weight: 0 }), "`upstreams[0].weight`"],
    ["the name of this process", file({ ...one, id: "sluice-embedded" }), "another name"],
    ["two of one id", file(one, one), "several `a`"],
    [
      "a name twice",
      file({ ...one, models: [...models, { id: "x", operation: "rerank", aliases: ["rank"] }] }),
      "several `rank`"
    ],
    ["no provider", "{}", "Expected an upstream or `embedded`"]
  ]
  for (const [name, text, said] of refused) {
    it.effect(`with ${name} is rejected with a message that repeats no values`, () =>
      Effect.gen(function* () {
        const why = yield* Effect.flip(decodeProvidersFile(text))
        assert.include(why, said)
        assert.notInclude(why, "canary")
      })
    )
  }

  it.effect("accepts the example of the documentation", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const page = yield* fs.readFileString("docs/guides/providers.md")
      const [, example = ""] = /```json\n([\s\S]*?)```/.exec(page) ?? []
      const { embedded, upstreams = [] } = yield* decodeProvidersFile(example)
      assert.deepStrictEqual(
        upstreams.map(({ id, models }) => [id, models?.length]),
        [
          ["east", 3],
          ["west", 2]
        ]
      )
      assert.deepStrictEqual(embedded, { priority: 9 })
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("reports all errors at once", () =>
    Effect.gen(function* () {
      const why = yield* Effect.flip(decodeProvidersFile(file({ ...one, x: 1, weight: -1 })))
      assert.include(why, "upstreams[0].x")
      assert.include(why, "upstreams[0].weight")
    })
  )

  it.live("fails the start if it cannot be used, with the reason", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* temporaryFolder
      const path = `${folder}/sluice.config.json`
      const why = (env: Record<string, string>) =>
        Effect.scoped(startServer({ env })).pipe(
          Effect.exit,
          Effect.map((exit) => (Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "it started"))
        )
      assert.include(yield* why({ SLUICE_CONFIG: path }), "which does not exist")
      yield* fs.writeFileString(path, file(one))
      assert.include(yield* why({ SLUICE_CONFIG: path }), "the variable UPSTREAM_KEY is not set")
      yield* fs.writeFileString(path, file({ ...one, apiKey: { file: "missing.key" } }))
      assert.include(yield* why({ SLUICE_CONFIG: path }), "missing.key: it cannot be read (NotFound)")
      const both = {
        SLUICE_CONFIG: path,
        SLUICE_GATEWAY_URL: "http://127.0.0.1:9",
        SLUICE_API_KEY: "sk-x",
        SLUICE_EMBEDDING_MODEL: "e",
        SLUICE_RERANK_MODEL: "r",
        SLUICE_CHAT_MODEL: "c"
      }
      assert.include(yield* why(both), "both configure providers")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("reloads under load without dropping calls; an invalid change is logged and ignored", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* temporaryFolder
      const path = `${folder}/sluice.config.json`
      const answer = json({ results: [{ index: 0, relevance_score: 0.5 }] })
      const [old, next] = [yield* loopback(answer), yield* loopback(answer)]
      const served = (id: string, { url }: Loopback) => ({ ...one, id, url })
      yield* fs.writeFileString(path, file(served("old", old)))
      const server = yield* startServer({ env: { SLUICE_CONFIG: path, UPSTREAM_KEY: canary } })
      const rank = server.call("/v1/rerank", { json: { model: "rank", query: "q", documents: ["d"] } })
      const printed = (text: string) =>
        Effect.repeat(
          Effect.sync(() => server.printed.some((line) => line.includes(text))),
          { schedule: Schedule.spaced("20 millis"), until: (found) => found }
        )

      const told = server
        .json(Schema.Struct({ status: Schema.Literal("ready"), config: Schema.String }), "/readyz")
        .pipe(Effect.map(({ config }) => config))

      // One call runs at the old upstream during all reloads.
      old.behave(() => {})
      const held = yield* Effect.forkChild(rank)
      const waiting = yield* old.next
      old.behave(answer)

      const statuses: Array<number> = []
      let enough = false
      const load = yield* Effect.forkChild(
        Effect.all(
          Array.from({ length: 4 }, () =>
            Effect.repeat(
              Effect.map(rank, ({ status }) => void statuses.push(status)),
              { until: () => enough }
            )
          ),
          { concurrency: "unbounded" }
        )
      )
      yield* fs.writeFileString(path, file({ ...served("old", old), apiKey: canary }))
      yield* printed("was not reloaded")
      assert.include(server.printed.join("\n"), '{ "env": NAME }')
      assert.include(yield* told, "was rejected")
      // Changes the folder, like a log file.
      const beside = fs.writeFileString(`${path}.log`, "a line\n", { flag: "a" })
      yield* Effect.repeat(
        beside,
        Schedule.addDelay(Schedule.recurs(3), () => Effect.succeed("150 millis"))
      )
      const refusals = server.printed.filter((line) => line.includes("was not reloaded"))
      assert.lengthOf(refusals, 1)
      const beforeChange = next.requests.length
      assert.strictEqual(beforeChange, 0)

      yield* fs.writeFileString(`${path}.new`, file(served("next", next)))
      yield* fs.rename(`${path}.new`, path)
      yield* printed("was reloaded. Providers: next")
      assert.strictEqual(yield* told, "ok")
      const after = old.requests.length
      enough = true
      yield* Fiber.join(load)
      assert.strictEqual((yield* rank).status, 200)
      assert.isAtLeast(next.requests.length, 1)
      // Only calls that chose their provider before the change.
      assert.isAtMost(old.requests.length - after, 4)
      assert.isAtLeast(statuses.length, 4)
      assert.deepStrictEqual(new Set(statuses), new Set([200]))

      answer(waiting)
      assert.strictEqual((yield* Fiber.join(held)).status, 200)
      assert.notInclude(server.printed.join("\n"), "canary")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
