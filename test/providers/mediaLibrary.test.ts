/** Images and videos of vendors in a program, without a server. */
import { assert, describe, it } from "@effect/vitest"
import { apiKey, Gateway } from "@sluice/core"
import { Effect, Stream } from "effect"
import { Providers } from "../../packages/providers/src/index.ts"
import { MP4 } from "./fakes/MediaVendor.ts"
import { MEDIA_VENDORS } from "./MediaVendors.ts"
import { MODEL_VENDORS } from "./ModelVendors.ts"

const layersOf = (dialect: string) => {
  const found = Object.entries(Providers).find(([name]) => name === dialect)
  assert.isDefined(found)
  return found[1]
}

const EIGHT_SECONDS = { group: "V-A", seconds: "8", size: "1280x720" } as const
/** The only length of SiliconFlow's videos. */
const FIVE_SECONDS = { group: "V-G", seconds: "5", size: "16:9" } as const

describe("a program makes", () => {
  for (const vendor of [...MEDIA_VENDORS, ...MODEL_VENDORS]) {
    const { base = "", dialect, images, key, videos } = vendor
    it.live(`images and videos of ${dialect}`, () =>
      Effect.gen(function* () {
        const fake = yield* vendor.start
        const gateway = layersOf(dialect).gateway({ url: fake.url + base, apiKey: apiKey(key) })
        yield* Effect.gen(function* () {
          const { images: imageCalls, videos: videoCalls } = yield* Gateway
          const generation = { every: "1 millis" } as const
          const [first] = images
          const made = yield* imageCalls.generate(
            { group: "I2", model: first.model, prompt: "a lock" },
            generation
          )
          assert.lengthOf(made.images, 1)
          if (videos === undefined) return
          const length = dialect === "siliconflow" ? FIVE_SECONDS : EIGHT_SECONDS
          const film = { ...length, model: videos.model, prompt: "a barge" }
          const { id, status } = yield* videoCalls.generate(film, generation)
          assert.strictEqual(status, "completed")
          const parts = yield* Stream.runCollect(videoCalls.content(id))
          assert.deepStrictEqual(Buffer.concat(parts), MP4)
          for (const { headers } of fake.fileRequests) {
            for (const secret of key.split(":")) assert.notInclude(JSON.stringify(headers), secret)
          }
        }).pipe(Effect.provide(gateway))
      }).pipe(Effect.scoped)
    )
  }
})
