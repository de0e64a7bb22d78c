/** The conformance checker: the reference gateway passes, each broken gateway fails one rule. */
import { assert, describe, it } from "@effect/vitest"
import { apiKey } from "@sluice/core"
import { GatewayApi } from "@sluice/core/contract"
import {
  callsOf,
  type CheckedCall,
  checks,
  type ConformanceOptions,
  contractCalls,
  rulesOf
} from "@sluice/core/conformance"
import { Duration, Effect, Exit, Redacted, Schema } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { brokenGateways } from "../conformance/brokenGateways.ts"
import {
  crashingGateway,
  limitedGateway,
  PROXY_BREAKS,
  proxyGateway,
  shoutingGateway,
  startingGateway
} from "../conformance/faultyGateways.ts"
import { check, during, everything, having } from "../conformance/Checking.ts"
import { failsEachRule, passesRules } from "../conformance/groupReports.ts"
import { GROUP_RULES } from "../conformance/imageGroups.ts"
import { ACCESS_TOKEN, API_KEY, MODELS, referenceGateway, refuse } from "../conformance/ReferenceGateway.ts"
import { FAULTS } from "../conformance/requestFaults.ts"
import { callOf, failsOneRule } from "../conformance/oneFault.ts"
import { serveGateway } from "../conformance/serveGateway.ts"

/** The sections of the interface, and the items of its numbered lists. */
const SECTIONS = new Set([
  "What the service does",
  "Rerank request",
  "Rerank response",
  "Video task",
  "Video create request",
  "Embedding request",
  "Embedding response",
  "Image generation request",
  "Chat message with images",
  "Account user",
  "Token (API key)",
  "Model entry",
  "States and transitions › Video task",
  "States and transitions › Token",
  "States and transitions › Image task (two-step models)",
  ...["Rerank", "Video", "Embeddings", "Images", "Image understanding", "Account management"].map(
    (endpoints) => `Endpoints › ${endpoints}`
  ),
  ...[1, 2, 3, 4, 5, 6, 7].map((item) => `Authentication ${item}`),
  ...[1, 2, 3].map((item) => `Errors ${item}`),
  "Limits"
])

describe("the rules", () => {
  it("cover every call of the contract and no other", () => {
    const named = checks.map(({ call }) => call)
    assert.sameMembers(
      named,
      contractCalls.map(({ name }) => name)
    )
    assert.strictEqual(new Set(named).size, named.length)
  })

  it("are missing for a call that is added to the contract", () => {
    const Speech = HttpApiGroup.make("speech").add(
      HttpApiEndpoint.get("voice", "/v1/voices/:voice", { params: { voice: Schema.String } }),
      HttpApiEndpoint.get("alias", "/v2/voices").annotate(OpenApi.Exclude, true)
    )
    const names = callsOf(HttpApi.make("more").addHttpApi(GatewayApi).add(Speech)).map(({ name }) => name)
    const missed = names.filter((name) => !checks.some(({ call }) => call === name))
    assert.deepStrictEqual(missed, ["GET /v1/voices/{}"])
  })

  it("cover the nineteen calls of the interface and one more, each with its section", () => {
    const own = checks.filter(({ kind }) => kind === "our choice").map(({ call }) => call)
    assert.deepStrictEqual(own, ["GET /v1/models"])
    assert.strictEqual(checks.length, 19 + own.length)
    const sections = checks.flatMap((check) =>
      contractCalls
        .filter(({ name }) => name === check.call)
        .flatMap((call) => Object.values(rulesOf(check, call)).map(({ section }) => section))
    )
    assert.deepStrictEqual(
      [...new Set(sections)].filter((section) => !SECTIONS.has(section)),
      []
    )
  })
})

describe("the reference gateway", () => {
  it.live.each(GROUP_RULES.slice(0, 1))(
    "passes every rule of $group, and keeps its tokens and videos",
    passesRules
  )
})

describe("a gateway with one fault", () => {
  // One gateway of each call, and one group. `npm run trials` has all of them.
  const first = brokenGateways.filter(
    ({ breaks }, i) => brokenGateways.findIndex((other) => callOf(other.breaks) === callOf(breaks)) === i
  )
  it.live.each(first)("$does: fails $breaks and no other rule", failsOneRule)

  it.live.each(GROUP_RULES.slice(0, 1))(
    "accepts what is not allowed, also for $group: fails each rule",
    failsEachRule
  )

  it.live("a video of group V-D is never queued", () =>
    Effect.gen(function* () {
      const groups = { video: "V-D" } as const
      const queued = "GET /v1/videos/{} queued"
      const { url } = yield* serveGateway()
      assert.deepStrictEqual(having(yield* check(url, { ...everything, groups }), "fails"), [queued])
      const right = yield* serveGateway(startingGateway)
      assert.include(having(yield* check(right.url, { ...everything, groups }), "conforms"), queued)
    }).pipe(Effect.scoped)
  )

  it.live("a proxy that drops fields fails by the rules of these fields", () =>
    Effect.gen(function* () {
      const { url } = yield* serveGateway(proxyGateway)
      const report = yield* check(url, { ...everything, groups: { image: "I1", video: "V-A" } })
      assert.sameMembers(having(report, "fails"), [...PROXY_BREAKS])
      assert.isFalse(report.conforms)
    }).pipe(Effect.scoped)
  )

  it("exists for every rule of the interface", () => {
    const careless = Object.entries(FAULTS).flatMap(([call, rules]) =>
      Object.keys(rules).map((rule) => `${call} ${rule}`)
    )
    const broken = new Set([...brokenGateways.map(({ breaks }) => breaks), ...careless])
    broken.add("GET /v1/videos/{} queued")
    const whole = checks.flatMap(({ call, rules }) =>
      Object.entries(rules)
        .filter(([, { kind }]) => kind === "interface")
        .map(([rule]) => `${call} ${rule}`)
    )
    assert.deepStrictEqual(
      whole.filter((rule) => !broken.has(rule)),
      []
    )
    const common = ["answers", "form", "anonymous", "otherCredential"]
    const endings = new Set([...broken].map((rule) => rule.split(" ").at(-1)))
    assert.deepStrictEqual(
      common.filter((rule) => !endings.has(rule)),
      []
    )
  })
})

describe("without permission", () => {
  const asked = (options: Partial<ConformanceOptions>) =>
    Effect.gen(function* () {
      const { seen, url, world } = yield* serveGateway()
      const before = structuredClone(world)
      const report = yield* check(url, { models: MODELS, pollInterval: Duration.zero, ...options })
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

  it.live("the check pays only for embeddings, changes nothing, and reports what it skipped", () =>
    Effect.gen(function* () {
      const { before, calls, report, world } = yield* asked({})
      assert.sameMembers([...calls], free)
      assert.deepStrictEqual(world, before)
      const skipped = report.calls.filter((call) => call.skipped !== undefined)
      assert.strictEqual(skipped.length + free.length, contractCalls.length)
      for (const { skipped: why } of skipped) assert.match(why ?? "", /--(paid|write|rotate)$/)
    })
  )

  it.live("to write or to rotate, the account and its access token do not change", () =>
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

  it.live("for /api, its calls are skipped with the reason", () =>
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

describe("the report", () => {
  it.live("has no credential of the caller, of a created token, or after a rotation", () =>
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
      const opens: typeof referenceGateway.opens = (world, path, credential) =>
        path === "/v1/models" || referenceGateway.opens(world, path, credential)
      const halfOpen = yield* serveGateway({ ...referenceGateway, opens })
      const refused = JSON.stringify(yield* check(halfOpen.url, { apiKey: apiKey(wrong) }))
      assert.notInclude(refused, "canary")
      assert.include(refused, "<redacted>")
    }).pipe(Effect.scoped)
  )

  it.live("skips rules after 429", () =>
    Effect.gen(function* () {
      const { seen, url } = yield* serveGateway(limitedGateway)
      const report = yield* check(url)
      assert.deepStrictEqual(having(report, "fails"), [])
      const answers = report.calls.find(({ call }) => call === "POST /v1/rerank")?.rules[0]
      assert.match(answers?.detail ?? "", /too many requests/)
      assert.strictEqual(seen.filter((call) => call === "POST /v1/rerank").length, 6)
    }).pipe(Effect.scoped)
  )

  it.live("does not count a 5xx as a refusal", () =>
    Effect.gen(function* () {
      const { url } = yield* serveGateway(crashingGateway)
      const report = yield* check(url)
      assert.deepStrictEqual(having(report, "fails"), [])
      assert.include(having(report, "skipped"), "POST /v1/chat/completions gif")
    }).pipe(Effect.scoped)
  )

  it.effect("arrives in bounded time if the gateway stalls", () =>
    Effect.gen(function* () {
      const stalling = HttpClient.make((request) =>
        request.url.endsWith("/v1/models")
          ? Effect.succeed(HttpClientResponse.fromWeb(request, Response.json({ data: [{ id: "embed" }] })))
          : Effect.never
      )
      const report = yield* during("10 minutes", stalling, {})
      const embeddings = report.calls.find(({ call }) => call === "POST /v1/embeddings")
      assert.deepInclude(embeddings?.rules[0], { verdict: "fails", detail: "No complete response within 1m" })
    })
  )

  it.effect("polls a task every 15 seconds until the task timeout", () =>
    Effect.gen(function* () {
      let looks = 0
      const endless = HttpClient.make((request) => {
        if (request.method === "GET") looks++
        const refused = request.headers["authorization"] === undefined || request.url.includes("no-such")
        const json = refused ? { error: { message: "no" } } : { id: "v", status: "in_progress" }
        const response = Response.json(json, { status: refused ? 401 : 200 })
        return Effect.succeed(HttpClientResponse.fromWeb(request, response))
      })
      const models = { video: "v" }
      const report = yield* during("6 minutes", endless, { paid: true, models, taskTimeout: "5 minutes" })
      const rules = report.calls.find(({ call }) => call === "GET /v1/videos/{}")?.rules
      const ends = rules?.find(({ rule }) => rule === "ends")
      assert.deepInclude(ends, { verdict: "fails", kind: "our choice" })
      assert.strictEqual(ends?.detail, `after 21 polls it is "in_progress"`)
      assert.isBelow(looks, 40)
    })
  )

  it.effect("is replaced by an error if nothing responds at the address", () =>
    Effect.gen(function* () {
      const silent = HttpClient.make(() => Effect.never)
      const error = yield* Effect.flip(during("1 minute", silent, {}))
      assert.strictEqual(error.reason._tag, "Unreachable")
      assert.include(error.message, "Check the base URL")
    })
  )

  it.live("leaves no token behind after an interruption", () =>
    Effect.gen(function* () {
      const { url, world } = yield* serveGateway()
      const most = new Set<number>()
      const stop = ({ call }: CheckedCall) => {
        for (const id of world.tokens.keys()) most.add(id)
        return call === "POST /api/token/" ? Effect.interrupt : Effect.void
      }
      const exit = yield* Effect.exit(check(url, everything, stop))
      assert.isTrue(Exit.hasInterrupts(exit))
      assert.deepStrictEqual([...most], [1, 2, 3])
      assert.deepStrictEqual([...world.tokens.keys()], [1, 2])
    }).pipe(Effect.scoped)
  )

  it.live("has no control characters", () =>
    Effect.gen(function* () {
      const { url } = yield* serveGateway(shoutingGateway)
      const { calls } = yield* check(url)
      const details = calls.flatMap(({ rules }) => rules.map(({ detail = "" }) => detail)).join("")
      assert.include(details, "[2J")
      assert.notMatch(details, /\p{Cc}/u)
    }).pipe(Effect.scoped)
  )

  it.live("has no key that a gateway repeats without its prefix", () =>
    Effect.gen(function* () {
      const bare = API_KEY.slice("sk-".length)
      const rerank = () => refuse(500, `invalid token: ${bare}`)
      const { url } = yield* serveGateway({
        ...referenceGateway,
        calls: { ...referenceGateway.calls, "POST /v1/rerank": rerank }
      })
      const report = JSON.stringify(yield* check(url))
      assert.include(report, "invalid token: <redacted>")
      assert.notInclude(report, bare)
    }).pipe(Effect.scoped)
  )
})
