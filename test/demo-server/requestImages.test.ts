/** Images in requests for an upstream's models. */
import { assert, describe, it } from "@effect/vitest"
import { makeDataUri } from "@sluice/core/media"
import { Effect } from "effect"
import { png, RED } from "../laws/Pictures.ts"
import { startPaidServer, chat, codeOf, post } from "./PaidServer.ts"
import { json } from "./Upstream.ts"

const GIF = Buffer.from("GIF89a\x01\0\x01\0\0\0\0;", "latin1")
const PICTURE = makeDataUri("image/png", png(RED))
const BASE64 = PICTURE.slice("data:image/png;base64,".length)
const NONE = [
  "/etc/passwd",
  "/etc/hosts/a",
  "C:\\x",
  "../a.png",
  "file:///etc/passwd",
  "data:image/png;base64,AAAA",
  makeDataUri("image/png", GIF),
  GIF.toString("base64")
]

describe("an image for a model of an upstream", () => {
  it.live("must be a URL, a data URI or Base64 of an image, and not a path", () =>
    Effect.gen(function* () {
      const { requests, server } = yield* startPaidServer((response) =>
        json(response, { id: "made", status: "queued", choices: [{ message: { content: "seen" } }] })
      )
      const picture = (image: unknown) =>
        post(server, "/v1/images/generations", { model: "p", prompt: "p", image })
      const film = (input_reference: unknown) =>
        post(server, "/v1/videos", { model: "v", prompt: "p", input_reference })
      const see = (url: string) =>
        post(server, "/v1/chat/completions", {
          ...chat,
          messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }]
        })
      for (const image of NONE) {
        const refused = yield* Effect.all([
          picture(image),
          picture([PICTURE, image]),
          film(image),
          film({ image_url: image }),
          film({ image_url: { url: image } })
        ])
        for (const call of refused)
          assert.deepStrictEqual([call.status, codeOf(call)], [400, "invalid_image"])
      }
      const large = yield* picture(Buffer.alloc(21 * 1024 * 1024, png(RED)).toString("base64"))
      assert.deepStrictEqual([large.status, codeOf(large)], [400, "invalid_image"])
      const gif = yield* see(makeDataUri("image/png", GIF))
      assert.deepStrictEqual([gif.status, codeOf(gif)], [400, "invalid_image"])
      for (const none of [{}, { image_url: null }, { image_url: "word" }, { file_id: "/etc/passwd" }]) {
        assert.strictEqual((yield* film(none)).status, 400, JSON.stringify(none))
      }
      assert.lengthOf(requests(), 0)

      for (const image of ["https://host.example/a.png", PICTURE, BASE64]) {
        for (const call of [picture(image), film(image), film({ image_url: image })]) {
          assert.strictEqual((yield* call).status, 200)
        }
      }
      // In a gateway's own format.
      for (const form of [{ file_id: "file-1" }, { type: "image/png", data: [{ base64: BASE64 }] }]) {
        assert.strictEqual((yield* film(form)).status, 200)
      }
      assert.strictEqual((yield* see(PICTURE)).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("and other fields must not be repeated in a form", () =>
    Effect.gen(function* () {
      const { requests, server } = yield* startPaidServer((response) =>
        json(response, { id: "made", status: "queued" })
      )
      const sent = (path: string, ...more: ReadonlyArray<readonly [string, string]>) => {
        const body = new FormData()
        for (const [name, value] of [["model", "m"], ["prompt", "p"], ...more] as const)
          body.append(name, value)
        return Effect.map(server.call(path, { body }), ({ status }) => status)
      }
      const [images, videos] = ["/v1/images/generations", "/v1/videos"]
      for (const [path, ...more] of [
        [images, ["n", "1"], ["n", "9"]],
        [images, ["model", "other"]],
        [videos, ["input_reference", PICTURE], ["input_reference", PICTURE]],
        [videos, ["input_reference", PICTURE], ["input_reference[image_url]", PICTURE]],
        [videos, ["input_reference[image_url]", PICTURE], ["input_reference", PICTURE]]
      ] as const) {
        assert.strictEqual(yield* sent(path, ...more), 400, JSON.stringify(more))
      }
      assert.lengthOf(requests(), 0)
      const several = [
        ["image", PICTURE],
        ["image[]", PICTURE],
        ["image", PICTURE]
      ] as const
      assert.strictEqual(yield* sent(images, ...several), 200)
      const inner = [
        ["input_reference[type]", "image_url"],
        ["input_reference[image_url]", PICTURE]
      ] as const
      assert.strictEqual(yield* sent(videos, ...inner), 200)
    }).pipe(Effect.scoped)
  )
})
