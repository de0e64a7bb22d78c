/** Requests for images and videos that a dialect refuses, because the vendor would make something else. */
import { assert, describe, it } from "@effect/vitest"
import { apiKey, Gateway, RETRY_NEVER } from "@sluice/core"
import { Effect } from "effect"
import { Providers } from "../../packages/providers/src/index.ts"
import { startKlingWith } from "./fakes/kling.ts"
import { startSiliconFlowMedia } from "./fakes/siliconflowMedia.ts"
import { PICTURE } from "./MediaCases.ts"

const pictures = (count: number) => Array.from({ length: count }, () => PICTURE)

const draw = (image: ReadonlyArray<string>) =>
  Gateway.use(({ images }) => images.create({ model: "m", prompt: "a lock", image }))

const film = Gateway.use(({ videos }) =>
  videos.create({ model: "m", prompt: "a lock", group: "V-A", size: "1280x720", seconds: "8" })
)

describe("SiliconFlow", () => {
  it.live.each([
    ["a video that is not of 5 seconds", Effect.asVoid(film), "5 seconds", "seconds"],
    ["a fourth image", Effect.asVoid(draw(pictures(4))), "3 images", "image"]
  ] as const)("refuses %s", ([, call, says, param]) =>
    Effect.gen(function* () {
      const { requests, url } = yield* startSiliconFlowMedia
      const key = apiKey("sk-siliconflow-0123456789")
      const layer = Providers.siliconflow.gateway({ url, apiKey: key, retry: RETRY_NEVER })
      const { reason } = yield* Effect.flip(Effect.provide(call, layer))
      assert.deepInclude(reason, { _tag: "InvalidRequest", param })
      assert.include(reason.message, says)
      assert.isEmpty(requests)
    }).pipe(Effect.scoped)
  )
})

describe("Kling", () => {
  const KEY = "api-key-kling-0123456789"
  const options = { apiKey: apiKey(KEY), retry: RETRY_NEVER }

  it.live("takes one image", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* startKlingWith(KEY)
      const call = Effect.provide(draw(pictures(2)), Providers.kling.gateway({ ...options, url }))
      const { reason } = yield* Effect.flip(call)
      assert.deepInclude(reason, { _tag: "InvalidRequest", param: "image" })
      assert.isEmpty(requests)
    }).pipe(Effect.scoped)
  )

  it.live("gets an API key as it is", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* startKlingWith(KEY)
      const { id } = yield* Effect.provide(film, Providers.kling.gateway({ ...options, url }))
      assert.isNotEmpty(id)
      assert.strictEqual(requests[0]?.headers.authorization, `Bearer ${KEY}`)
    }).pipe(Effect.scoped)
  )

  it.live("checks the signature of a pair of keys", () =>
    Effect.gen(function* () {
      const { url } = yield* startKlingWith("access:secret")
      const wrong = { apiKey: apiKey("access:other"), retry: RETRY_NEVER, url }
      const { reason } = yield* Effect.flip(Effect.provide(film, Providers.kling.gateway(wrong)))
      assert.strictEqual(reason._tag, "Unauthorized")
    }).pipe(Effect.scoped)
  )
})
