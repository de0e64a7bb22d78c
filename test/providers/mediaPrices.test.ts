/** Images and videos of vendors cost what their size and quality cost. */
import { assert, it } from "@effect/vitest"
import { Video } from "@sluice/core/contract"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { costs, post } from "../demo-server/PaidServer.ts"
import { startServer, temporaryFolder } from "../demo-server/TestServer.ts"
import { startDashScopeMedia } from "./fakes/dashscopeMedia.ts"
import { startOpenAiImages } from "./fakes/openaiImages.ts"
import { vendorEnv, type VendorUpstream } from "./MediaServer.ts"

const startPriced = Effect.fnUntraced(function* (upstream: VendorUpstream) {
  const file = join(yield* temporaryFolder, "prices.json")
  const painter = { perImage: 500, variants: { low: 10, high: 40 } }
  const animator = { perSecond: 100, variants: { "480p": 5, "720p": 10 } }
  writeFileSync(file, JSON.stringify({ models: { painter, animator } }))
  return yield* startServer({ env: { ...(yield* vendorEnv(upstream)), SLUICE_PRICES: file } })
})

it.live(
  "an image of unknown quality reserves the highest price, and costs that of the response's quality",
  () =>
    Effect.gen(function* () {
      const { url } = yield* startOpenAiImages
      const server = yield* startPriced({
        dialect: "openai",
        url,
        key: "sk-openai-0123456789abc",
        images: ["gpt-image-1"]
      })
      const request = { model: "painter", prompt: "a lock", n: 2 }
      const { status } = yield* costs(server, post(server, "/v1/images/generations", request), 2 * 40)
      assert.strictEqual(status, 200)
    }).pipe(Effect.scoped)
)

it.live("a video costs the seconds of its size, also when its task has ended", () =>
  Effect.gen(function* () {
    const { url } = yield* startDashScopeMedia
    const upstream = { dialect: "dashscope", url, key: "sk-dashscope-0123456789", video: "wan2.6-t2v" }
    const server = yield* startPriced(upstream)
    for (const [size, seconds, reserved, cost] of [
      ["1280x720", "10", 100, 100],
      ["480p", undefined, 15 * 5, 5 * 5],
      ["1080p", "5", 500, 500]
    ] as const) {
      const json = { model: "animator", prompt: "a lock", size, seconds }
      const { id } = yield* costs(server, server.json(Video, "/v1/videos", { json }), reserved)
      const look = server.call(`/v1/videos/${id}`)
      yield* costs(server, Effect.all([look, look, look]), cost - reserved)
    }
  }).pipe(Effect.scoped)
)
