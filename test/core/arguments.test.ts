/** Calls of programs: values known at run time, absent values, one text, and arguments of callers without a compiler. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it, layer } from "@effect/vitest"
import { Account, apiKey, Gateway, type GatewayError, quota, systemAccessToken } from "@sluice/core"
import { Expiry, type ImageGroup, type VideoGroup, encodeVector } from "@sluice/core/contract"
import { AccountClient, BatchedEmbeddings, GatewayClient } from "@sluice/core/client"
import { DateTime, Effect, Exit, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { onePixel } from "./mediaImages.ts"
import { ask, behaving, Clients } from "./Clients.ts"
import { LoopbackGateway, sends } from "./LoopbackGateway.ts"

const media = { model: "m", prompt: "p" }
const tagOf = (call: Effect.Effect<unknown, GatewayError, Gateway | Account>) =>
  Effect.map(Effect.exit(call), (exit) => {
    const error = Exit.isFailure(exit) ? exit.cause.reasons[0] : undefined
    return error?._tag === "Fail" ? error.error.reason._tag : (error?._tag ?? "Success")
  })

layer(Layer.provideMerge(NodeFileSystem.layer, Clients))("calls", (it) => {
  it.effect("take values that are known at run time, and check them then", () =>
    Effect.gen(function* () {
      const { images, videos } = yield* Gateway
      const film = (group: VideoGroup, seconds: string, size: string) =>
        videos.create({ ...media, group, seconds, size })
      const picture = (group: ImageGroup, n: number, size: string) =>
        images.create({ ...media, group, n, size })
      const seconds: string = "5"
      // @ts-expect-error V-A accepts 4, 8 or 12 seconds
      const literal = videos.create({ ...media, group: "V-A", seconds: "5" })
      // @ts-expect-error 1 to 10
      const eleven = images.create({ ...media, group: "I1", n: 11 })
      const calls = [
        film("V-D", "5", "1280x720"),
        film("V-A", "5", "1280x720"),
        videos.create({ ...media, group: "V-E", seconds, size: "720P" }),
        literal,
        picture("I2", 2, "1K"),
        picture("I2", 11, "1K"),
        picture("I2", 2, "8K"),
        eleven
      ]
      const tags = yield* behaving(sends({ id: "t" }), Effect.forEach(calls, tagOf))
      const [good, bad] = ["Success", "InvalidRequest"]
      assert.deepStrictEqual(tags, [good, bad, good, bad, good, bad, bad, bad])
    })
  )

  it.effect("take any seed without a group, and `data:image/jpg` in messages", () =>
    Effect.gen(function* () {
      const { chat, images } = yield* Gateway
      const drawn = images.create({ ...media, seed: -7 })
      const url = `data:image/jpg;base64,${onePixel.jpeg}`
      const part = { type: "image_url", image_url: { url } } as const
      const seen = chat({ model: "c", messages: [{ role: "user", content: [part] }] })
      const body = { id: "t", choices: [{ message: { content: "a" } }] }
      assert.deepStrictEqual(yield* behaving(sends(body), Effect.forEach([drawn, seen], tagOf)), [
        "Success",
        "Success"
      ])
    })
  )

  it.effect("take undefined for every optional field and option", () =>
    Effect.gen(function* () {
      const { url } = yield* LoopbackGateway
      const none = undefined
      const options: GatewayClient.GatewayClientOptions = {
        baseUrl: url,
        apiKey: apiKey("k"),
        retry: none,
        attemptTimeout: none,
        callTimeout: none,
        idleTimeout: none,
        honoursIdempotencyKey: none,
        headers: none,
        connections: none,
        maxResponseBytes: none,
        embeddings: { texts: none, bytes: none, concurrency: none, encodingFormat: none },
        images: { every: none, deadline: none },
        videos: { every: none, deadline: none }
      }
      const batched = BatchedEmbeddings.layer({ texts: none, bytes: none, window: none })
      const client = Layer.provide(batched, GatewayClient.layer(options))
      const calls = Gateway.use((gateway) =>
        Effect.all([
          gateway.chat({ ...ask, maxTokens: none, temperature: none, extra: none }),
          gateway.rerank({
            model: "r",
            query: "q",
            documents: ["a"],
            topN: none,
            returnDocuments: none,
            extra: none
          }),
          TestClock.withLive(gateway.embeddings({ model: "e", input: ["a"], extra: none })),
          gateway.videos.create({ ...media, group: none, seconds: none, size: none, inputReference: none }),
          gateway.videos.create({ ...media, group: "V-A", seconds: none, size: none, extra: none })
        ])
      )
      const body = {
        id: "t",
        choices: [{ message: { content: "a" } }],
        results: [{ index: 0, relevance_score: 1 }],
        data: [{ index: 0, embedding: [1] }]
      }
      yield* behaving(sends(body), Effect.provide(calls, client))
    })
  )

  it.effect("embed one text", () =>
    Effect.gen(function* () {
      const embed = Gateway.use((gateway) => gateway.embeddings({ model: "e", input: "one text" }))
      const data = [{ index: 0, embedding: encodeVector(Float32Array.of(1, 2)) }]
      for (const call of [embed, TestClock.withLive(Effect.provide(embed, BatchedEmbeddings.layer()))]) {
        const seen = Effect.map(LoopbackGateway, ({ seen }) => seen.map(({ body }) => body.input))
        const [{ vectors }, sent] = yield* behaving(sends({ data }), Effect.all([call, seen]))
        assert.deepStrictEqual([vectors, sent], [[Float32Array.of(1, 2)], [["one text"]]])
      }
    })
  )

  it.effect("of callers without a compiler fail with GatewayError", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const account = yield* Account
      const wrong: ReadonlyArray<readonly [method: unknown, ...args: ReadonlyArray<unknown>]> = [
        [gateway.chat],
        [gateway.chat, {}],
        [gateway.chat, { model: "c", messages: "hello" }],
        [gateway.chat, { model: "c", messages: [null] }],
        [gateway.chat, { model: "c", messages: [{ role: "user", content: 7 }] }],
        [gateway.chatStream],
        [gateway.chatStream, { model: 1, messages: [] }],
        [gateway.embeddings, { model: "e", input: [1] }],
        [gateway.embeddings, { model: "e" }],
        [gateway.embeddings, null],
        [gateway.rerank, { model: "r", query: "q" }],
        [gateway.rerank, { model: "r", query: "q", documents: [{}] }],
        [gateway.images.create],
        [gateway.images.generate, { model: "i", prompt: "p" }, { deadline: "soon" }],
        [gateway.images.get],
        [gateway.images.load],
        [gateway.videos.create, { model: "v" }],
        [gateway.videos.create, { ...media, seconds: 5, group: "V-A" }],
        [gateway.videos.create, { ...media, group: "V-Z" }],
        [gateway.videos.create, { ...media, inputReference: 7 }],
        [gateway.videos.progress],
        [gateway.videos.content, 7],
        [gateway.videos.get],
        [gateway.images.save, { base64: onePixel.jpeg }],
        [gateway.videos.download, "v"],
        [account.tokens.create],
        [account.tokens.create, { name: "n", remainQuota: "5" }],
        [account.tokens.create, { name: "n", remainQuota: quota(5), expires: "never" }],
        [account.tokens.get, "x"],
        [account.tokens.update, 1],
        [account.tokens.search]
      ]
      const record = { data: { id: 1, name: "n", status: 1, expired_time: -1, remain_quota: 1 } }
      for (const [method, ...args] of wrong) {
        const result = (method as (...args: ReadonlyArray<unknown>) => unknown)(...args)
        const call = (
          Stream.isStream(result) ? Stream.runDrain(result as Stream.Stream<unknown, unknown>) : result
        ) as Effect.Effect<unknown, GatewayError>
        const body = method === account.tokens.update ? record : { id: "t", status: "queued" }
        assert.strictEqual(yield* behaving(sends(body), tagOf(call)), "InvalidRequest", JSON.stringify(args))
      }
    })
  )

  it.effect("of clients without a credential or with wrong options fail with GatewayError", () =>
    Effect.gen(function* () {
      const { url: baseUrl } = yield* LoopbackGateway
      const options: ReadonlyArray<Record<string, unknown>> = [
        {},
        { baseUrl },
        { baseUrl: 7, apiKey: apiKey("k") },
        { baseUrl, apiKey: apiKey("k"), attemptTimeout: "soon" }
      ]
      for (const one of options) {
        const accessToken = one["apiKey"] && systemAccessToken("t")
        const account = { ...one, accessToken } as unknown as AccountClient.AccountClientOptions
        const gateway = GatewayClient.layer(one as unknown as GatewayClient.GatewayClientOptions)
        const tags = yield* Effect.all([
          tagOf(Effect.scoped(Layer.build(gateway))),
          tagOf(Effect.scoped(Layer.build(AccountClient.layer(account))))
        ])
        assert.deepStrictEqual(tags, ["InvalidRequest", "InvalidRequest"], JSON.stringify(one))
      }
    })
  )
})

describe("an expiry", () => {
  it.effect("is never, at a time, or after a duration", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(Expiry.never, { _tag: "Never" })
      const at = DateTime.makeUnsafe("2030-01-01T00:00:00Z")
      for (const time of ["2030-01-01T00:00:00Z", new Date("2030-01-01T00:00:00Z"), at]) {
        const expiry = Expiry.at(time)
        assert.isTrue(expiry._tag === "At" && DateTime.toEpochMillis(expiry.at) === at.epochMilliseconds)
      }
      assert.throws(() => Expiry.at("soon"), RangeError)
      assert.throws(() => Expiry.at("1960-01-01"), RangeError)
      yield* TestClock.setTime(1_000_000)
      const later = yield* Expiry.after("1 hour")
      assert.isTrue(later._tag === "At" && DateTime.toEpochMillis(later.at) === 4_600_000)
    })
  )
})
