/** Which hosts get a vendor's key in a program, without a server. */
import { assert, describe, it } from "@effect/vitest"
import { apiKey, Gateway } from "@sluice/core"
import { Effect, Stream } from "effect"
import { Providers } from "../../packages/providers/src/index.ts"
import { json, type Loopback, loopback } from "../demo-server/Loopback.ts"
import { MP4, PNG } from "./fakes/MediaVendor.ts"

const KEY = "sk-hosts-0123456789"

/** A vendor, and another host whose paths look like the interface's. */
const start = Effect.gen(function* () {
  const storage = yield* loopback(({ path, response }) =>
    response
      .writeHead(200, { "content-type": path.endsWith(".png") ? "image/png" : "video/mp4" })
      .end(path.endsWith(".png") ? PNG : MP4)
  )
  const vendor: Loopback = yield* loopback((request) => {
    const { path, response } = request
    if (path.startsWith("/own.png")) return response.writeHead(200).end(PNG)
    if (path.includes("/content")) {
      return response.writeHead(302, { location: `${storage.url}/v1/videos/video_1/content` }).end()
    }
    if (path.endsWith("/status")) return json({ status: "COMPLETED" })(request)
    return json({ request_id: "1", video: { url: `${vendor.url}/film/content` } })(request)
  })
  return { storage, vendor }
})

const options = { query: { version: "2" } }

describe("another host than the vendor's gets no key", () => {
  it.live.each([
    ["a gateway", Providers.gateway, {}],
    ["a gateway with a query", Providers.gateway, options],
    ["OpenAI", Providers.openai, {}],
    ["Google", Providers.google, {}]
  ] as const)("from links to images of %s", ([, { gateway }, more]) =>
    Effect.gen(function* () {
      const { storage, vendor } = yield* start
      yield* Effect.gen(function* () {
        const { images } = yield* Gateway
        for (const path of ["/a.png", "/v1/images/generations/b/a.png", "/v1/videos/a.png"]) {
          yield* images.load({ url: storage.url + path })
        }
        yield* images.load({ url: `${vendor.url}/own.png` })
      }).pipe(Effect.provide(gateway({ url: vendor.url, apiKey: apiKey(KEY), ...more })))
      assert.deepStrictEqual(
        storage.requests.map(({ path }) => path),
        ["/a.png", "/v1/images/generations/b/a.png", "/v1/videos/a.png"]
      )
      for (const { headers } of storage.requests) assert.notInclude(JSON.stringify(headers), KEY)
      assert.include(JSON.stringify(vendor.requests.at(-1)?.headers), KEY)
    }).pipe(Effect.scoped)
  )

  it.live.each([{}, options])("from redirects of videos of a gateway with %o", (more) =>
    Effect.gen(function* () {
      const { storage, vendor } = yield* start
      yield* Effect.gen(function* () {
        const { videos } = yield* Gateway
        const parts = yield* Stream.runCollect(videos.content("video_1"))
        assert.deepStrictEqual(Buffer.concat(parts), MP4)
      }).pipe(Effect.provide(Providers.gateway.gateway({ url: vendor.url, apiKey: apiKey(KEY), ...more })))
      assert.include(JSON.stringify(vendor.requests[0]?.headers), KEY)
      assert.deepStrictEqual(
        storage.requests.map(({ path }) => path),
        ["/v1/videos/video_1/content"]
      )
      for (const { headers } of storage.requests) assert.notInclude(JSON.stringify(headers), KEY)
    }).pipe(Effect.scoped)
  )

  it.live("from redirects of videos of a vendor", () =>
    Effect.gen(function* () {
      const { storage, vendor } = yield* start
      yield* Effect.gen(function* () {
        const { videos } = yield* Gateway
        const request = {
          group: "V-A",
          model: "a/b",
          prompt: "a barge",
          seconds: "8",
          size: "1280x720"
        } as const
        const { id } = yield* videos.generate(request, { every: "1 millis" })
        const parts = yield* Stream.runCollect(videos.content(id))
        assert.deepStrictEqual(Buffer.concat(parts), MP4)
      }).pipe(Effect.provide(Providers.fal.gateway({ url: vendor.url, apiKey: apiKey(KEY) })))
      assert.deepStrictEqual(
        storage.requests.map(({ path }) => path),
        ["/v1/videos/video_1/content"]
      )
      for (const { headers } of storage.requests) assert.notInclude(JSON.stringify(headers), KEY)
    }).pipe(Effect.scoped)
  )
})
