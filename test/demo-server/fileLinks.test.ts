/** Links to the server's own files in requests: read from the data folder, and no other file. */
import { assert, layer } from "@effect/vitest"
import { ChatResponse, ImageResponse, Video } from "@sluice/core/contract"
import { Effect } from "effect"
import { sendRaw } from "./Raw.ts"
import { errorOf, testServer, TestServer } from "./TestServer.ts"

const images = "/v1/images/generations"
/** Group I3 accepts reference images of any size. */
const painting = { model: "sluice-image-i3", prompt: "A lock on a quiet river", size: "64x48" }

const SECRET = "A".repeat(43)

layer(testServer(), { excludeTestServices: true, timeout: "60 seconds" })("a link to this server", (it) => {
  const paint = (image?: string) =>
    Effect.gen(function* () {
      const { json } = yield* TestServer
      const { data } = yield* json(ImageResponse, images, { json: { ...painting, image } })
      return data?.[0]?.url ?? ""
    })
  const refused = (image: string) =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const response = yield* call(images, { json: { ...painting, image } })
      return { status: response.status, ...(yield* errorOf(response)) }
    })

  it.effect("works as a reference image and in chats, with any name of the server", () =>
    Effect.gen(function* () {
      const { json } = yield* TestServer
      const link = yield* paint()
      const again = yield* paint(link)
      const { id } = yield* json(Video, "/v1/videos", {
        json: {
          model: "sluice-video-from-image",
          prompt: "A barge",
          seconds: "1",
          size: "160x90",
          input_reference: again
        }
      })
      assert.match(id, /^video_/)
      const url = link.replace("127.0.0.1", "localhost")
      const content = [
        { type: "text", text: "How large is it?" },
        { type: "image_url", image_url: { url } }
      ]
      const seen = yield* json(ChatResponse, "/v1/chat/completions", {
        json: { model: "sluice-ocr", messages: [{ role: "user", content }] }
      })
      assert.match(seen.choices[0]?.message.content ?? "", /64 .{1,3} 48/)
    })
  )

  it.effect("fails where GET would fail", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      for (const [name, message] of [
        [`1-${SECRET}.png`, /expired.* 24 hours/],
        [`zzzzzzzz-${SECRET}.png`, /No such file/],
        [`zzzzzzzz-${SECRET}.mp4`, /No such file/],
        ["..%2f..%2faccounts.db", /No such file/]
      ] as const) {
        const error = yield* refused(`${url}/files/${name}`)
        assert.deepInclude(error, { status: 400, param: "image", code: "invalid_image_url" })
        assert.match(error.message, message)
      }
    })
  )

  it.effect("does not reach another path, port or server", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const made = yield* paint()
      const other = made.replace(/:\d+/, ":1")
      for (const image of [`${url}/readyz`, `${url}/files/../readyz`, `${url}/openapi.json?/files/`, other]) {
        assert.match((yield* refused(image)).message, /not publicly reachable/)
      }
    })
  )
})

layer(testServer({ env: { HOST: "0.0.0.0" } }), { excludeTestServices: true, timeout: "60 seconds" })(
  "where any name is ours, a link of the name",
  (it) => {
    it.effect("with the called name is never fetched over the network", () =>
      Effect.gen(function* () {
        const { secrets, url } = yield* TestServer
        const host = `127.0.0.2:${new URL(url).port}`
        const body = JSON.stringify({ ...painting, image: `http://${host}/files/zzzzzzzz-${SECRET}.png` })
        const answer = yield* sendRaw(
          url,
          `POST ${images} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${secrets.apiKey}\r\n`,
          `content-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`
        )
        assert.strictEqual(answer.status, 400)
        assert.match(answer.body, /No such file/)
      })
    )
  }
)
