/** Prices: the file, its validation, and the computation of costs. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { costOf, NO_USAGE } from "@sluice/core/prices"
import { ConfigProvider, Effect, Layer, Schedule } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { ServerConfig } from "../../apps/demo-server/src/config/ServerConfig.ts"
import { Prices } from "../../apps/demo-server/src/billing/Prices.ts"
import { startServer, temporaryFolder } from "./TestServer.ts"

const pricesWith = (env: Record<string, string>) =>
  Layer.build(
    Prices.layer.pipe(
      Layer.provide(ServerConfig.layer),
      Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(env))),
      Layer.provide(NodeServices.layer)
    )
  ).pipe(
    Effect.flatMap((context) => Effect.provide(Prices, context)),
    Effect.scoped
  )

const fileOf = (content: unknown) =>
  Effect.map(temporaryFolder, (folder) => {
    const file = join(folder, "prices.json")
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content))
    return file
  })

describe("prices", () => {
  it.live("of the configured file replace the shipped ones, and a model's replaces its operation's", () =>
    Effect.gen(function* () {
      const file = yield* fileOf({
        defaults: { chat: { outputPer1000Tokens: 9 } },
        models: { big: { inputPer1000Tokens: 0.25 }, "sluice-ocr": {} }
      })
      const prices = yield* pricesWith({ SLUICE_PRICES: file })
      assert.deepStrictEqual(prices.of("chat", "big"), { inputPer1000Tokens: 0.25 })
      assert.deepStrictEqual(prices.of("chat", "unheard-of"), { outputPer1000Tokens: 9 })
      assert.deepStrictEqual(prices.of("chat", "sluice-ocr"), {})
      assert.isAbove(prices.of("images", "unheard-of").perImage ?? 0, 0)
      assert.isAbove(prices.of("embeddings", "sluice-lexical-1024").inputPer1000Tokens ?? 0, 0)
    }).pipe(Effect.scoped)
  )

  it("of a size and a quality replace the price of an image or a second", () => {
    const price = {
      perImage: 100,
      perSecond: 10,
      variants: { high: 40, "1024x1536 high": 60, "720p": 4, constructor: 1 }
    }
    const image = (quality?: string, size?: string) =>
      costOf(price, { ...NO_USAGE, images: 2, quality, size })
    assert.deepStrictEqual(
      [image("HIGH", "1024x1536"), image("high", "1024x1024"), image("low", "1024x1024"), image()],
      [120, 80, 200, 200]
    )
    const video = (size?: string) => costOf(price, { ...NO_USAGE, seconds: 5, size })
    assert.deepStrictEqual(
      [video("720P"), video("1280x720"), video("720*1280"), video("1080p"), video("toString"), video()],
      [20, 20, 20, 50, 50, 50]
    )
    assert.strictEqual(costOf({ perImage: 7 }, { ...NO_USAGE, images: 1, size: "toString" }), 7)
  })

  it.live("of vendors' models are shipped, and the highest one is that of an unknown size", () =>
    Effect.gen(function* () {
      const prices = yield* pricesWith({})
      const price = prices.of("images", "gpt-image-1")
      const cost = (more: object) => costOf(price, { ...NO_USAGE, images: 1, ...more })
      assert.isBelow(cost({ quality: "low", size: "1024x1024" }), cost({ quality: "low", size: "1024x1536" }))
      assert.isBelow(cost({ quality: "low" }), cost({ quality: "high" }))
      assert.strictEqual(cost({}), Math.max(...Object.values(price.variants ?? {})))
    })
  )

  for (const [fault, content] of [
    ["a key that is not known", { models: { m: { inputPer1000Tokens: 1, outputPerToken: 1 } } }],
    ["an operation that is not known", { defaults: { speech: {} } }],
    ["a negative price", { models: { m: { perImage: -1 } } }],
    ["a price that is text", { models: { m: { perImage: "1" } } }],
    ["no JSON", "{"]
  ] as const) {
    it.live(`a file with ${fault} is rejected with its name`, () =>
      Effect.gen(function* () {
        const file = yield* fileOf(content)
        const error = yield* Effect.flip(pricesWith({ SLUICE_PRICES: file }))
        assert.include(error.message, file)
        if (/key|operation/.test(fault)) assert.match(error.message, /unknown key at \["/)
      }).pipe(Effect.scoped)
    )
  }

  it.live("an invalid rate limit is rejected", () =>
    Effect.gen(function* () {
      for (const name of ["SLUICE_REQUESTS_PER_MINUTE", "SLUICE_TOKENS_PER_MINUTE"]) {
        for (const value of ["0", "-1", "1.5", "many"]) {
          assert.include((yield* Effect.flip(pricesWith({ [name]: value }))).message, name)
        }
      }
    })
  )

  it("costs are rounded up once per call, without errors of binary fractions", () => {
    const tokens = (inputTokens: number, outputTokens = 0) => ({ ...NO_USAGE, inputTokens, outputTokens })
    const price = { inputPer1000Tokens: 0.1, outputPer1000Tokens: 0.3 }
    assert.strictEqual(costOf(price, tokens(0)), 0)
    assert.strictEqual(costOf(price, tokens(1)), 1)
    assert.strictEqual(costOf(price, tokens(1, 1)), 1)
    // 7.000000000000001 in floating point.
    assert.strictEqual(costOf(price, tokens(70_000)), 7)
    assert.strictEqual(costOf(price, tokens(70_001)), 8)
    assert.strictEqual(costOf({ perImage: 1.5 }, { ...NO_USAGE, images: 3 }), 5)
    assert.strictEqual(costOf({ perSecond: 2500 }, { ...NO_USAGE, seconds: 2.5 }), 6250)
    assert.strictEqual(costOf({}, tokens(1_000_000, 1_000_000)), 0)
  })
})

it.live("the server warns of models without a price of their own, also of those added later", () =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const file = join(folder, "sluice.config.json")
    const models = ["dear", "priced"].map((id) => ({ id, operation: "chat" }))
    const upstream = { id: "east", url: "http://127.0.0.1:9", apiKey: { env: "EAST" }, models }
    writeFileSync(file, JSON.stringify({ upstreams: [upstream], embedded: true }))
    const prices = yield* fileOf({ models: { priced: { inputPer1000Tokens: 1 } } })
    const env = { SLUICE_CONFIG: file, EAST: "sk-east", SLUICE_PRICES: prices }
    const { printed } = yield* startServer({ env })
    const said = "These models have no price of their own:"
    assert.include(printed.join("\n"), `${said} dear. They cost`)
    const added = { ...upstream, id: "west", models: [...models, { id: "new", operation: "chat" }] }
    writeFileSync(file, JSON.stringify({ upstreams: [upstream, added], embedded: true }))
    const schedule = Schedule.spaced("20 millis")
    yield* Effect.repeat(
      Effect.sync(() => printed.join("\n")),
      { schedule, until: (text) => text.includes(`${said} new. They cost`) }
    )
  }).pipe(Effect.scoped)
)
