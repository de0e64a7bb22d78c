/** Chat about images over HTTP: text in images, prices, rejected images. */
import { assert, layer } from "@effect/vitest"
import { ChatChunk, ChatResponse } from "@sluice/core/contract"
import { makeDataUri } from "@sluice/core/media"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import sharp from "sharp"
import { errorOf, testServer, TestServer } from "../demo-server/TestServer.ts"

const root = join(import.meta.dirname, "../..")
const model = "sluice-ocr"
const path = "/v1/chat/completions"

const page = Effect.promise(async () => {
  const whole = await readFile(join(root, "docs/page.png"))
  return sharp(whole).extract({ left: 30, top: 350, width: 680, height: 120 }).png().toBuffer()
})
const chart = Effect.promise(() => readFile(join(root, "test/embedded/fixtures/boats.png")))

const image = (bytes: Uint8Array, detail?: string | null, type = "image/png") => ({
  type: "image_url",
  image_url: { url: makeDataUri(type, bytes), ...(detail !== undefined && { detail }) }
})
const text = (said: string) => ({ type: "text", text: said })
const asking = (...content: ReadonlyArray<object>) => ({ model, messages: [{ role: "user", content }] })

layer(testServer(), { excludeTestServices: true, timeout: "60 seconds" })("chat with images", (it) => {
  const ask = (body: object) =>
    Effect.flatMap(TestServer, ({ json }) => json(ChatResponse, path, { json: body }))
  const refused = (body: object) =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const response = yield* call(path, { json: body })
      return { status: response.status, ...(yield* errorOf(response)) }
    })

  it.effect("answers with the text in the image", () =>
    Effect.gen(function* () {
      const answer = yield* ask(
        asking(text("How many turns does gate 2 need for one metre?"), image(yield* page))
      )
      assert.strictEqual(answer.model, model)
      assert.match(answer.choices[0]?.message.content ?? "", /310 turns for one metre/)
      assert.strictEqual(answer.choices[0]?.finish_reason, "stop")
    })
  )

  it.effect("costs 85 tokens per image with `low`, more by size with `high`; `auto` chooses by size", () =>
    Effect.gen(function* () {
      const question = text("When?")
      const [large, small] = [
        yield* page,
        yield* Effect.promise(() =>
          sharp({ create: { width: 64, height: 64, channels: 3, background: "red" } })
            .png()
            .toBuffer()
        )
      ]
      const promptOf = (...parts: ReadonlyArray<object>) =>
        Effect.map(ask(asking(question, ...parts)), ({ usage }) => {
          assert.strictEqual(
            usage?.total_tokens,
            (usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0)
          )
          return usage?.prompt_tokens ?? 0
        })
      const bare = yield* promptOf()
      assert.strictEqual((yield* promptOf(image(large, "low"))) - bare, 85)
      // 730 × 230 are two tiles of 512.
      assert.strictEqual((yield* promptOf(image(large, "high"))) - bare, 85 + 2 * 170)
      assert.strictEqual((yield* promptOf(image(large, null))) - bare, 85 + 2 * 170)
      assert.strictEqual((yield* promptOf(image(small, "auto"), image(small))) - bare, 2 * 85)
    })
  )

  it.effect("streams the same answer and stops at max_tokens", () =>
    Effect.gen(function* () {
      const { events } = yield* TestServer
      const body = asking(text("How many turns does gate 2 need for one metre?"), image(yield* page, "low"))
      const whole = yield* ask(body)
      const chunks = yield* events(ChatChunk, path, {
        json: { ...body, stream: true, stream_options: { include_usage: true } }
      })
      assert.strictEqual(
        chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join(""),
        whole.choices[0]?.message.content
      )
      assert.deepStrictEqual(chunks.at(-1)?.usage, whole.usage)
      const cut = yield* ask({ ...body, max_tokens: 3 })
      assert.deepStrictEqual([cut.choices[0]?.finish_reason, cut.usage?.completion_tokens], ["length", 3])
      assert.isTrue(whole.choices[0]?.message.content?.startsWith(cut.choices[0]?.message.content ?? "-"))
    })
  )

  it.effect("answers about several images, and about text alone", () =>
    Effect.gen(function* () {
      const both = yield* ask(
        asking(
          text("How many turns does gate 2 need for one metre?"),
          image(yield* chart),
          image(yield* page)
        )
      )
      assert.match(both.choices[0]?.message.content ?? "", /weir gates/)
      const alone = yield* ask(asking(text("Bread rises when the dough is warm.\n\nWhen does bread rise?")))
      assert.deepStrictEqual(
        [alone.model, alone.choices[0]?.message.content],
        [model, "Bread rises when the dough is warm."]
      )
    })
  )

  it.effect("rejects anything but PNG, JPEG and WEBP, and names the image", () =>
    Effect.gen(function* () {
      const gif = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64")
      const honest = yield* refused(asking(image(gif, "low", "image/gif")))
      assert.strictEqual(honest.status, 400)
      const disguised = yield* refused(asking(text("What?"), image(yield* chart), image(gif)))
      assert.deepStrictEqual(
        [disguised.status, disguised.param, disguised.code],
        [400, "messages", "invalid_image"]
      )
      assert.match(disguised.message, /^Image 2 of 2: .* a GIF/)
      const cut = yield* refused(asking(image((yield* chart).subarray(0, 300))))
      assert.strictEqual(cut.status, 400)
    })
  )

  it.effect("rejects images above 20 MB, and too many images", () =>
    Effect.gen(function* () {
      const tooLarge = new Uint8Array(20 * 1024 * 1024 + 1)
      tooLarge.set((yield* chart).subarray(0, 64))
      const large = yield* refused(asking(image(tooLarge)))
      assert.strictEqual(large.status, 400)
      assert.match(large.message, /20 MB/)
      const small = image(yield* chart)
      const many = yield* refused(asking(...Array.from({ length: 21 }, () => small)))
      assert.deepStrictEqual([many.status, many.code], [400, "too_many_images"])
    })
  )

  it.effect("never fetches an image from a private host", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      for (const at of [`${url}/healthz`, "http://169.254.169.254/latest", "http://[::1]/"]) {
        const error = yield* refused(asking({ type: "image_url", image_url: { url: at } }))
        assert.deepStrictEqual([error.status, error.code], [400, "invalid_image_url"])
        assert.match(error.message, /not publicly reachable/)
      }
    })
  )
})
