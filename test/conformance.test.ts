/** The conformance checker: the reference gateway passes, each broken gateway fails by its own rule, our server as it is. */
import { assert, describe, it } from "@effect/vitest"
import { apiKey, systemAccessToken } from "@sluice/core"
import { layerTransport } from "@sluice/core/client"
import {
  checkGateway,
  checks,
  type ConformanceOptions,
  contractCalls,
  type Report
} from "@sluice/core/conformance"
import { Duration, Effect, Fiber, Redacted } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { brokenGateways, limitedGateway } from "./conformance/brokenGateways.ts"
import { ACCESS_TOKEN, API_KEY, MODELS, serveGateway } from "./conformance/ReferenceGateway.ts"
import { startServer } from "./demo-server/TestServer.ts"

const everything = { paid: true, write: true, rotate: true, models: MODELS, pollEvery: Duration.zero }

const check = (url: string, options: Partial<ConformanceOptions> = everything) =>
  checkGateway({
    baseUrl: url,
    apiKey: apiKey(API_KEY),
    accessToken: systemAccessToken(ACCESS_TOKEN),
    ...options
  }).pipe(Effect.provide(layerTransport()))

/** Rules with a verdict, as `POST /v1/rerank topN`. */
const having = ({ calls }: Report, verdict: string, kind?: string) =>
  calls.flatMap(({ call, rules }) =>
    rules
      .filter((rule) => rule.verdict === verdict && (kind === undefined || rule.kind === kind))
      .map(({ rule }) => `${call} ${rule}`)
  )

describe("the rules", () => {
  it("are there for every call of the contract, and for no other", () => {
    const named = checks.map(({ call }) => call)
    assert.sameMembers(
      named,
      contractCalls.map(({ name }) => name)
    )
    assert.strictEqual(new Set(named).size, named.length)
  })
})

describe("the reference gateway", () => {
  it.live("keeps every rule that can be judged, and has lost nothing", () =>
    Effect.gen(function* () {
      const { url, world } = yield* serveGateway()
      const report = yield* check(url)
      assert.deepStrictEqual(having(report, "fails"), [])
      assert.isTrue(report.conforms)
      // The models work in one step or in two, and the task did not fail: nothing else is left unjudged.
      assert.deepStrictEqual(having(report, "skipped"), ["GET /v1/videos/{} error"])
      assert.deepStrictEqual([...world.tokens.keys()], [1, 2])
      assert.strictEqual(world.videos.size, 0)
    }).pipe(Effect.scoped)
  )
})

describe("a gateway that is broken in one way", () => {
  it.live.each(brokenGateways)("$does: $breaks, and no other rule", ({ breaks, gateway }) =>
    Effect.gen(function* () {
      const { url } = yield* serveGateway(gateway)
      const report = yield* check(url)
      assert.deepStrictEqual(having(report, "fails", "interface"), [breaks])
      assert.isFalse(report.conforms)
      assert.strictEqual(report.totals.interface.fails, 1)
    }).pipe(Effect.scoped)
  )

  it("is one of twenty at least, none broken as another is", () => {
    assert.isAtLeast(brokenGateways.length, 20)
    assert.strictEqual(new Set(brokenGateways.map(({ breaks }) => breaks)).size, brokenGateways.length)
  })
})

describe("without permission", () => {
  const asked = (options: Partial<ConformanceOptions>) =>
    Effect.gen(function* () {
      const { seen, url, world } = yield* serveGateway()
      const before = structuredClone(world)
      const report = yield* check(url, { models: MODELS, pollEvery: Duration.zero, ...options })
      assert.deepStrictEqual(having(report, "fails"), [])
      const calls = new Set(
        seen.map((call) => call.replace(/\?.*/, "").replaceAll(/\/(\d+|task-\d+)/g, "/{}"))
      )
      return { before, calls, report, world }
    }).pipe(Effect.scoped)

  const free = [
    "GET /v1/models",
    "GET /api/models",
    "GET /api/user/available_models",
    "POST /v1/embeddings",
    "GET /api/user/self",
    "GET /api/token/",
    "GET /api/token/{}",
    "GET /api/token/search"
  ]

  it.live("nothing is paid beyond embeddings, nothing is changed, and every omission is said", () =>
    Effect.gen(function* () {
      const { before, calls, report, world } = yield* asked({})
      assert.sameMembers([...calls], free)
      assert.deepStrictEqual(world, before)
      const skipped = report.calls.filter((call) => call.skipped !== undefined)
      assert.strictEqual(skipped.length + free.length, contractCalls.length)
      for (const { skipped: why } of skipped) assert.match(why ?? "", /--(paid|write|rotate)$/)
    })
  )

  it.live("to write, the account stays as it was; to rotate, the token does", () =>
    Effect.gen(function* () {
      const paid = yield* asked({ paid: true })
      assert.deepStrictEqual(paid.world.tokens, paid.before.tokens)
      assert.isTrue(paid.calls.has("POST /v1/videos"))
      const written = yield* asked({ write: true })
      assert.strictEqual(written.world.accessToken, ACCESS_TOKEN)
      assert.isTrue(written.calls.has("DELETE /api/token/{}"))
      assert.isFalse(written.calls.has("POST /v1/rerank"))
    })
  )

  it.live("by a system access token, /api is left out and said to be", () =>
    Effect.gen(function* () {
      const { calls, report } = yield* asked({ accessToken: undefined, write: true, rotate: true })
      assert.sameMembers([...calls], ["GET /v1/models", "POST /v1/embeddings"])
      assert.strictEqual(
        report.calls.find(({ call }) => call === "GET /api/models")?.skipped,
        "it needs --access-token"
      )
    })
  )
})

describe("a report", () => {
  it.live("carries no credential: not of the caller, nor the one made, nor the one rotated to", () =>
    Effect.gen(function* () {
      const { url, world } = yield* serveGateway()
      let rotated = ""
      const onRotated = (token: Redacted.Redacted) =>
        Effect.sync(() => void (rotated = Redacted.value(token)))
      const whole = JSON.stringify(yield* check(url, { ...everything, onRotated }))
      assert.strictEqual(rotated, world.accessToken)
      for (const secret of [API_KEY, ACCESS_TOKEN, rotated]) assert.notInclude(whole, secret)
      assert.notMatch(whole, /sk-[0-9a-f]{8}/)
      const wrong = "sk-wrong-canary-0002"
      const refused = JSON.stringify(yield* check(url, { apiKey: apiKey(wrong) }))
      assert.notInclude(refused, "canary")
      assert.include(refused, "<redacted>")
    }).pipe(Effect.scoped)
  )

  it.live("does not hold too many requests against a gateway", () =>
    Effect.gen(function* () {
      const { seen, url } = yield* serveGateway(limitedGateway)
      const report = yield* check(url)
      assert.deepStrictEqual(having(report, "fails"), [])
      const answers = report.calls.find(({ call }) => call === "POST /v1/rerank")?.rules[0]
      assert.match(answers?.detail ?? "", /too many requests/)
      assert.strictEqual(seen.filter((call) => call === "POST /v1/rerank").length, 6)
    }).pipe(Effect.scoped)
  )

  it.effect("comes in bounded time from a gateway that never answers", () =>
    Effect.gen(function* () {
      const silent = HttpClient.make(() => Effect.never)
      const running = yield* checkGateway({ baseUrl: "http://silent.example", apiKey: apiKey(API_KEY) }).pipe(
        Effect.provideService(HttpClient.HttpClient, silent),
        Effect.forkChild
      )
      yield* TestClock.adjust("10 minutes")
      const report = yield* Fiber.join(running)
      assert.isFalse(report.conforms === true && report.totals.interface.conforms > 0)
      assert.deepStrictEqual(having(report, "conforms"), [])
      const list = report.calls.find(({ call }) => call === "GET /v1/models")
      assert.match(list?.rules[0]?.detail ?? "", /^No whole answer within 1m$/)
    })
  )
})

describe("our own server", () => {
  it.live("keeps the interface in the calls that it serves, and fails exactly those that it does not", () =>
    Effect.gen(function* () {
      const { secrets, url } = yield* startServer()
      const report = yield* check(url, {
        paid: true,
        write: true,
        rotate: true,
        apiKey: apiKey(secrets.apiKey),
        accessToken: systemAccessToken(secrets.accessToken),
        models: {
          embedding: "sluice-lexical-1024",
          rerank: "sluice-lexical-rerank",
          chat: "sluice-extractive",
          image: "none",
          video: "none"
        },
        pollEvery: Duration.zero
      })
      assert.sameMembers(having(report, "fails", "interface"), [
        // The embedded reader reads text only, and says so.
        "POST /v1/chat/completions images",
        "POST /v1/images/generations answers",
        "POST /v1/videos answers",
        "GET /api/user/self answers",
        "GET /api/user/token answers",
        "GET /api/token/ answers",
        "POST /api/token/ answers"
      ])
      assert.deepStrictEqual(having(report, "fails", "our choice"), [])
    }).pipe(Effect.scoped)
  )
})
