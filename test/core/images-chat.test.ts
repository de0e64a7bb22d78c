import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layer } from "@effect/vitest"
import { Gateway, type GatewayError, chatImageTokens, imagePart, userMessage } from "@sluice/core"
import type { ImageSource } from "@sluice/core/contract"
import { Effect, FileSystem, Layer, Stream } from "effect"
import { behaving, Clients } from "./Clients.ts"
import { json, LoopbackGateway } from "./LoopbackGateway.ts"
import { onePixel, png } from "./mediaImages.ts"

const url = "https://images.example.com/cat.gif"

layer(Layer.merge(Clients, NodeFileSystem.layer))("images in a chat", (it) => {
  it.effect("are sent from every kind of source, several in one message", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const file = yield* files.makeTempFileScoped({ suffix: ".bin" })
      const bytes = png(600, 10)
      yield* files.writeFile(file, bytes)
      const uri = `data:image/png;base64,${Buffer.from(bytes).toString("base64")}`
      const sources: ReadonlyArray<ImageSource> = [url, { file }, bytes, onePixel.jpeg]
      const message = yield* userMessage("What is on them?", sources, "high")
      const body = yield* behaving(
        (_, response) => json(response, { choices: [{ message: { content: "A cat." } }] }),
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const { text } = yield* gateway.chat({ model: "c", messages: [message], maxTokens: 9 })
          assert.strictEqual(text, "A cat.")
          return (yield* LoopbackGateway).seen[0]?.body as unknown
        })
      )
      const urls = [url, uri, uri, `data:image/jpeg;base64,${onePixel.jpeg}`]
      const parts = urls.map((url) => ({ type: "image_url", image_url: { url, detail: "high" } }))
      const content = [{ type: "text", text: "What is on them?" }, ...parts]
      assert.deepStrictEqual(body, { model: "c", messages: [{ role: "user", content }], max_tokens: 9 })
      // A URL of unknown size; twice 600 × 10, two tiles each; one pixel.
      assert.deepStrictEqual(chatImageTokens([message]), {
        least: 255 + 2 * 425 + 255,
        most: 1445 + 2 * 425 + 255
      })
    })
  )

  it.effect("cost tokens by their detail, without the texts", () =>
    Effect.gen(function* () {
      const bytes = png(1024, 1024)
      const costs = yield* Effect.forEach(["low", "high", "auto", undefined] as const, (detail) =>
        Effect.map(userMessage("Look.", [bytes], detail), (message) => chatImageTokens([message]))
      )
      assert.deepStrictEqual(costs, [
        { least: 85, most: 85 },
        { least: 765, most: 765 },
        { least: 85, most: 765 },
        { least: 85, most: 765 }
      ])
      assert.deepStrictEqual(chatImageTokens([{ role: "user", content: "No image." }]), { least: 0, most: 0 })
      const broken = {
        type: "image_url",
        image_url: { url: "data:image/png;base64,AAA", detail: "high" }
      } as const
      assert.deepStrictEqual(chatImageTokens([{ role: "user", content: [broken, broken] }]), {
        least: 510,
        most: 2890
      })
    })
  )

  it.effect("fail before sending if a source is not an accepted image", () =>
    Effect.gen(function* () {
      const refused: ReadonlyArray<readonly [Effect.Effect<unknown, GatewayError>, RegExp]> = [
        [imagePart(onePixel.gif), /chat: The image is a GIF, not a PNG, JPEG or WEBP image/],
        [imagePart("cat.png"), /\{ file: path \}/],
        [userMessage("Look.", [url, new Uint8Array(9)]), /unknown format/]
      ]
      for (const [effect, message] of refused) {
        const error = yield* Effect.flip(effect)
        assert.strictEqual(error.reason._tag, "InvalidRequest")
        assert.match(error.message, message)
      }
    })
  )

  it.effect("are checked before sending if they are data URIs, for chat and chatStream", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { seen } = yield* LoopbackGateway
      const asking = (url: string) => ({
        model: "c",
        messages: [
          { role: "system" as const, content: "Look." },
          { role: "user" as const, content: [{ type: "image_url" as const, image_url: { url } }] }
        ]
      })
      const refused: ReadonlyArray<readonly [string, RegExp]> = [
        [`data:image/gif;base64,${onePixel.gif}`, /is a GIF, not a PNG, JPEG or WEBP image/],
        [`data:image/png;base64,${onePixel.gif}`, /is a GIF/],
        [`data:image/png;base64,${onePixel.jpeg}`, /declared as image\/png, but its bytes are image\/jpeg/],
        ["data:image/png;base64,????", /is not Base64/],
        ["data:image/png,AAAA", /is not Base64/],
        [`data:text/html;base64,${btoa("<html></html>")}`, /markup/]
      ]
      for (const [url, message] of refused) {
        for (const effect of [gateway.chat(asking(url)), Stream.runDrain(gateway.chatStream(asking(url)))]) {
          const count = seen.length
          const error = yield* Effect.flip(effect)
          assert.deepInclude(error.reason, { _tag: "InvalidRequest", param: "messages" })
          assert.match(error.message, message)
          assert.deepStrictEqual([error.notExecuted, seen.length], [true, count])
        }
      }
      yield* behaving(
        (_, response) => json(response, { choices: [{ message: { content: "A cat." } }] }),
        gateway.chat(asking(`data:image/jpeg;base64,${onePixel.jpeg}`))
      )
    })
  )
})
