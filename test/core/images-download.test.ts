import { assert, layer } from "@effect/vitest"
import { type GatewayError, RETRY_NEVER, withRetryPolicy } from "@sluice/core"
import { Context, Effect, FileSystem, Layer } from "effect"
import { behaving, reasonOf } from "./Clients.ts"
import { Client, images, sendBytes } from "./imagesClient.ts"
import { KEY, running } from "./tasksClient.ts"
import { type Behaviour, json, LoopbackGateway, openAi, refuse } from "./LoopbackGateway.ts"
import { onePixel, png } from "./mediaImages.ts"

layer(Client)("the bytes of images", (it) => {
  it.effect("loads and checks bytes from Base64 or from a link", () =>
    Effect.gen(function* () {
      const gateway = yield* LoopbackGateway
      const { load } = yield* images
      const bytes = png(30, 20)
      const base64 = Buffer.from(bytes).toString("base64")
      const loads = [
        load({ base64 }),
        behaving(sendBytes(bytes, "binary/octet-stream"), load({ url: `${gateway.url}/1` }))
      ]
      for (const effect of loads) {
        const image = yield* effect
        assert.deepStrictEqual([image.format, image.width, image.height], ["png", 30, 20])
        assert.deepStrictEqual([...image.bytes], [...bytes])
      }
      const once = withRetryPolicy(RETRY_NEVER)
      const bad: ReadonlyArray<
        readonly [Effect.Effect<unknown, GatewayError, LoopbackGateway>, string, RegExp]
      > = [
        [load({ base64: "AAA" }), "InvalidResponse", /Base64 is damaged/],
        [load({ base64: onePixel.gif }), "InvalidResponse", /a GIF/],
        [load({}), "InvalidRequest", /neither Base64 nor a link/],
        [
          once(load({ url: "http://127.0.0.1:1/x.png" })),
          "Unreachable",
          /^127\.0\.0\.1:1 cannot .* its address/
        ],
        [load({ url: "file:///etc/passwd" }), "InvalidRequest", /not an http or https/],
        [
          behaving(sendBytes(Buffer.from("<html>")), load({ url: `${gateway.url}/1` })),
          "InvalidResponse",
          /markup/
        ],
        [
          behaving(sendBytes(bytes.subarray(0, 20)), load({ url: `${gateway.url}/1` })),
          "InvalidResponse",
          /cut off/
        ],
        [
          behaving(sendBytes(new Uint8Array(100_001)), load({ url: `${gateway.url}/1` })),
          "InvalidResponse",
          /maxResponseBytes/
        ]
      ]
      for (const [effect, tag, message] of bad) {
        const reason = yield* reasonOf(effect)
        assert.strictEqual(reason._tag, tag)
        assert.match(reason.message, message)
      }
    })
  )

  it.effect("sends the key only to the gateway", () =>
    Effect.gen(function* () {
      const gateway = yield* LoopbackGateway
      const other = Context.get(yield* Layer.build(Layer.fresh(LoopbackGateway.layer)), LoopbackGateway)
      const { load } = yield* images
      const bytes = png(2, 2)
      const sending = sendBytes(bytes)

      other.behave(sending)
      yield* load({ url: `${other.url}/1.png` })
      assert.deepStrictEqual(
        other.seen.map(({ headers, path }) => [path, headers.authorization]),
        [["/1.png", undefined]]
      )

      other.behave(sending)
      const redirect: Behaviour = ({ path }, response) => {
        const location = path === "/a" ? "/b" : `${other.url}/stored.png`
        response.writeHead(302, { location, "content-length": 2 })
        response.end("->")
      }
      yield* behaving(
        redirect,
        Effect.gen(function* () {
          const image = yield* load({ url: `${gateway.url}/a` })
          assert.strictEqual(image.width, 2)
          const keys = gateway.seen.map(({ headers, path }) => [path, headers.authorization])
          assert.deepStrictEqual(keys, [
            ["/a", `Bearer ${KEY}`],
            ["/b", `Bearer ${KEY}`]
          ])
        })
      )
      assert.deepStrictEqual(
        other.seen.map(({ headers, path }) => [path, headers.authorization]),
        [["/stored.png", undefined]]
      )
    })
  )

  it.effect("ends redirect loops, and follows no other scheme", () =>
    Effect.gen(function* () {
      const gateway = yield* LoopbackGateway
      const { load } = yield* images
      const to =
        (location: string): Behaviour =>
        (_, response) => {
          response.writeHead(307, { location })
          response.end()
        }
      for (const [location, count] of [
        ["/again", 6],
        ["file:///etc/passwd", 1]
      ] as const) {
        const effect = Effect.andThen(
          reasonOf(load({ url: `${gateway.url}/1` })),
          Effect.sync(() => gateway.seen.length)
        )
        assert.strictEqual(yield* behaving(to(location), effect), count, location)
      }
    })
  )

  it.effect("an expired link is NotFound, whatever its status", () =>
    Effect.gen(function* () {
      const other = Context.get(yield* Layer.build(Layer.fresh(LoopbackGateway.layer)), LoopbackGateway)
      const { load } = yield* images
      for (const status of [400, 401, 403, 404, 410]) {
        other.behave(refuse(status, "<Error>AccessDenied</Error>"))
        const reason = yield* reasonOf(load({ url: `${other.url}/1.png` }))
        assert.strictEqual(reason._tag, "NotFound", String(status))
        assert.match(reason.message, /no longer provides the image/)
      }
    })
  )

  it.effect("the last host decides, and a redirect back brings no key", () =>
    Effect.gen(function* () {
      const gateway = yield* LoopbackGateway
      const other = Context.get(yield* Layer.build(Layer.fresh(LoopbackGateway.layer)), LoopbackGateway)
      const { load } = yield* images
      const to = (location: string): Behaviour => refuse(302, "->", { location })

      other.behave(refuse(403, "<Error>Request has expired</Error>"))
      const ended = yield* behaving(
        to(`${other.url}/stored.png`),
        reasonOf(load({ url: `${gateway.url}/a` }))
      )
      assert.strictEqual(ended._tag, "NotFound")
      assert.include(ended.message, new URL(other.url).host)

      other.behave(to(`${gateway.url}/private`))
      const own = yield* behaving(
        refuse(403, openAi({ message: "not yours" })),
        Effect.tap(reasonOf(load({ url: `${other.url}/b` })), () =>
          Effect.sync(() => assert.deepStrictEqual(gateway.seen[0]?.headers.authorization, undefined))
        )
      )
      assert.deepInclude(own, { _tag: "Forbidden", message: "not yours" })
    })
  )

  it.effect("a download is retried, and a file is written completely or not at all", () =>
    Effect.gen(function* () {
      const gateway = yield* LoopbackGateway
      const files = yield* FileSystem.FileSystem
      const folder = yield* files.makeTempDirectoryScoped()
      const { save } = yield* images
      const bytes = png(8, 8)
      const image = { url: `${gateway.url}/1.png` }
      const flaky: Behaviour = (seen, response, nth) =>
        nth === 0 ? json(response, {}, 503) : sendBytes(bytes)(seen, response, nth)
      const saved = yield* behaving(flaky, running(save(image, `${folder}/a.png`)))
      assert.strictEqual(saved.format, "png")
      assert.deepStrictEqual([...(yield* files.readFile(`${folder}/a.png`))], [...bytes])

      const bad = yield* behaving(sendBytes(bytes.subarray(0, 9)), reasonOf(save(image, `${folder}/b.png`)))
      assert.strictEqual(bad._tag, "InvalidResponse")
      const base64 = { base64: onePixel.png }
      assert.match(
        (yield* reasonOf(save(base64, `${folder}/none/c.png`))).message,
        /c\.png cannot be written: its folder does not exist/
      )
      assert.deepStrictEqual(yield* files.readDirectory(folder), ["a.png"])
    })
  )
})
