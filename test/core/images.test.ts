import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it, layer } from "@effect/vitest"
import {
  apiKey,
  Gateway,
  type GatewayError,
  type ImageAnswer,
  type ImageCall,
  IMAGE_GROUPS,
  ImageRequest,
  ImageResponse
} from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { Context, Effect, Exit, Fiber, FileSystem, Layer, Logger, Schema } from "effect"
import { TestClock } from "effect/testing"
import { behaving, reasonOf } from "./Clients.ts"
import { type Behaviour, json, LoopbackGateway, openAi, refuse } from "./LoopbackGateway.ts"
import { onePixel, png } from "./mediaImages.ts"

const KEY = "sk-canary-5f2e"
const HOUR = 3_600_000

/** Hours, so that a machine that is slow for a while is not out of time on the test's clock. */
const patient = { attemptTimeout: "2 hours", callTimeout: "9 hours", maxResponseBytes: 100_000 } as const

const Client = Layer.unwrap(
  Effect.map(LoopbackGateway, ({ url }) =>
    GatewayClient.layer({ baseUrl: url, apiKey: apiKey(KEY), ...patient })
  )
).pipe(Layer.provideMerge(LoopbackGateway.layer), Layer.provideMerge(NodeFileSystem.layer))

const tick = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

/** Lets the test's clock run, a second for each turn of the event loop, until an effect has ended. */
const running = Effect.fn(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const fiber = yield* Effect.forkChild(effect)
  while (fiber.pollUnsafe() === undefined) {
    yield* tick
    yield* TestClock.adjust("1 second")
  }
  return yield* Fiber.join(fiber)
})

const images = Effect.map(Gateway, (gateway) => gateway.images)
const untyped = (fields: object) => ({ model: "m", prompt: "p", ...fields }) as ImageCall
const generate = (fields: object = {}) => Effect.flatMap(images, ({ generate }) => generate(untyped(fields)))

/** What the one request of a behaviour carried. */
const sent = Effect.map(LoopbackGateway, ({ seen }) => seen[0]?.body as unknown as Record<string, unknown>)
const requests = Effect.map(LoopbackGateway, ({ seen }) =>
  seen.map(({ method, path }) => `${method} ${path}`)
)

const answering =
  (body: unknown, status = 200): Behaviour =>
  (_, response) =>
    json(response, body, status)

/** Answers a creation with a task, then a look with each of these, the last one for ever. */
const task =
  (...looks: ReadonlyArray<object>): Behaviour =>
  ({ method }, response, nth) =>
    method === "POST"
      ? json(response, { id: "t/1" })
      : json(response, looks[Math.min(Math.max(nth - 1, 0), looks.length - 1)])

const sendBytes =
  (bytes: Uint8Array, type = "image/png"): Behaviour =>
  (_, response) => {
    response.writeHead(200, { "content-type": type, "content-length": bytes.length })
    response.end(bytes)
  }

const url = "https://images.example.com/1.png"
const link = { url }

layer(Client)("images", (it) => {
  it.effect("every field of every group goes out under its name on the wire, the group itself does not", () =>
    Effect.gen(function* () {
      const common = { model: "m", prompt: "p", size: "2K", n: 2, quality: "high" }
      const calls: ReadonlyArray<readonly [ImageCall, object]> = [
        [
          untyped({
            ...common,
            group: "I1",
            quality: "hd",
            image: onePixel.png,
            inputFidelity: "high",
            moderation: "low",
            outputFormat: "webp"
          }),
          {
            quality: "hd",
            image: onePixel.png,
            input_fidelity: "high",
            moderation: "low",
            output_format: "webp"
          }
        ],
        [untyped({ ...common, group: "I2", size: "1024x768" }), { size: "1024x768" }],
        [
          untyped({ ...common, group: "I3", watermark: false, seed: 0, image: url }),
          { watermark: false, seed: 0, image: url }
        ],
        [
          untyped({
            ...common,
            group: "I4",
            watermark: true,
            seed: -1,
            sequentialImageGeneration: "auto",
            responseFormat: "base64_json",
            image: [url, onePixel.jpeg]
          }),
          {
            watermark: true,
            seed: -1,
            sequential_image_generation: "auto",
            response_format: "base64_json",
            image: [url, onePixel.jpeg]
          }
        ],
        [
          untyped({ ...common, group: "I5", safetyTolerance: 0, aspectRatio: "16:9", seed: 9, raw: true }),
          { safety_tolerance: 0, aspect_ratio: "16:9", seed: 9, raw: true }
        ],
        [untyped({ ...common, group: "I6", image: new URL(url) }), { image: url }],
        [
          untyped({ ...common, quality: "best", image: [url], extra: { style: { vivid: 1 } } }),
          { quality: "best", image: [url], style: { vivid: 1 } }
        ]
      ]
      assert.deepStrictEqual(
        IMAGE_GROUPS.filter((group) => !calls.some(([call]) => call.group === group)),
        []
      )
      for (const [call, wire] of calls) {
        const body = yield* behaving(
          answering({ data: [link] }),
          Effect.andThen(
            Effect.flatMap(images, ({ create }) => create(call)),
            sent
          )
        )
        assert.deepStrictEqual(body, { ...common, ...wire })
      }
    })
  )

  it.effect("what is not given is not sent: defaults are the gateway's", () =>
    Effect.gen(function* () {
      const { behave, seen } = yield* LoopbackGateway
      behave(answering({ data: [link] }))
      yield* generate({ group: "I1" })
      const { headers, method, path } = seen[0] ?? assert.fail("no request")
      assert.deepStrictEqual(yield* sent, { model: "m", prompt: "p" })
      assert.deepStrictEqual([method, path], ["POST", "/v1/images/generations"])
      assert.strictEqual(headers.authorization, `Bearer ${KEY}`)
      assert.match(String(headers["idempotency-key"]), /^[0-9a-f-]{36}$/)
    })
  )

  const several = (count: number) => Array.from({ length: count }, () => url)
  const refused: ReadonlyArray<readonly [fields: object, param: string, message: RegExp]> = [
    [{ group: "I7" }, "group", /no group I7: I1, I2, I3, I4, I5, I6/],
    [{ group: "I1", size: "3K" }, "size", /1K, 2K, 4K, auto, hd, or pixels/],
    [{ group: "I3", size: "hd" }, "size", /1K, 2K, 4K, auto, or pixels/],
    [{ group: "I1", size: "0x1024" }, "size", /pixels such as 1024x1024/],
    [{ group: "I2", n: 0 }, "n", /1, 2, 3, .* 9, 10/],
    [{ group: "I2", n: 11 }, "n", /1, 2, 3, .* 9, 10/],
    [{ group: "I2", n: 1.5 }, "n", /group I2/],
    [{ group: "I2", image: url }, "image", /nothing that group I2 takes. It takes group, model, prompt/],
    [{ group: "I2", quality: "hd" }, "quality", /low, medium, high/],
    [{ group: "I1", inputFidelity: "medium" }, "inputFidelity", /high, low/],
    [{ group: "I1", moderation: "high" }, "moderation", /auto, low/],
    [{ group: "I1", outputFormat: "gif" }, "outputFormat", /png, jpeg, webp/],
    [{ group: "I1", seed: 1 }, "seed", /nothing that group I1 takes/],
    [{ group: "I3", seed: -1 }, "seed", /0 to 2147483647/],
    [{ group: "I3", seed: 2_147_483_648 }, "seed", /0 to 2147483647/],
    [{ group: "I3", watermark: "no" }, "watermark", /boolean/],
    [
      { group: "I3", image: [url] },
      "image",
      /an image: a URL, a data URI, Base64, bytes or \{ file: path \}/
    ],
    [{ group: "I4", seed: -2 }, "seed", /-1 to 2147483647/],
    [{ group: "I4", responseFormat: "b64_json" }, "responseFormat", /url, base64_json/],
    [{ group: "I4", sequentialImageGeneration: "on" }, "sequentialImageGeneration", /auto, disabled/],
    [{ group: "I4", image: several(15) }, "image", /at most 15 .* together, got 15 and 1/],
    [{ group: "I4", n: 10, image: several(6) }, "image", /at most 15 .* together, got 6 and 10/],
    [{ group: "I5", safetyTolerance: 6 }, "safetyTolerance", /0, 1, 2, 3, 4, 5/],
    [{ group: "I5", aspectRatio: "wide" }, "aspectRatio", /a ratio such as 16:9/],
    [{ group: "I5", seed: 0.5 }, "seed", /integer/],
    [{ group: "I6", raw: true }, "raw", /nothing that group I6 takes/],
    [{ n: 11 }, "n", /1 to 10/],
    [{ safetyTolerance: -1 }, "safetyTolerance", /0 to 5/],
    [{ prompt: "" }, "prompt", /length of at least 1/],
    [{ size: 1024 }, "size", /string/],
    [{ image: onePixel.gif }, "image", /a GIF/],
    [{ group: "I4", image: [url, { file: "/no/such.png" }] }, "image", /\/no\/such\.png cannot be read/]
  ]
  it.effect("what a group does not take is refused unsent, with what it does", () =>
    Effect.gen(function* () {
      const { behave } = yield* LoopbackGateway
      behave(answering({ data: [link] }))
      for (const [fields, param, message] of refused) {
        const reason = yield* reasonOf(generate(fields))
        if (reason._tag !== "InvalidRequest") assert.fail(reason._tag)
        assert.strictEqual(reason.param, param)
        assert.match(reason.message, message)
      }
      assert.deepStrictEqual(yield* requests, [])
      yield* generate({ group: "I4", n: 10, image: several(5) })
      yield* generate({ group: "I4", image: several(14) })
      yield* generate({ group: "I3", seed: 2_147_483_647 })
      assert.strictEqual((yield* requests).length, 3)
    })
  )

  it.effect("a file is read and goes as a data URI; bytes too", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const file = yield* files.makeTempFileScoped()
      const bytes = png(3, 2)
      yield* files.writeFile(file, bytes)
      const call = generate({ group: "I4", image: [{ file }, bytes] })
      const { image } = yield* behaving(answering({ data: [link] }), Effect.andThen(call, sent))
      const uri = `data:image/png;base64,${Buffer.from(bytes).toString("base64")}`
      assert.deepStrictEqual(image, [uri, uri])
    })
  )

  it.effect("links and Base64 are read alike, under every name that is met", () =>
    Effect.gen(function* () {
      const base64 = onePixel.png
      const uri = `data:image/png;base64,${base64}`
      const data = [
        { url },
        { b64_json: base64, url: "" },
        { base64_json: base64, b64_json: null },
        { url: uri },
        { b64_json: uri, revised_prompt: "A cat" },
        { url, b64_json: base64 }
      ]
      const answer = yield* behaving(answering({ created: 7, data, usage: { total_tokens: 4 } }), generate())
      assert.deepStrictEqual(answer, {
        images: [
          { url },
          { base64 },
          { base64 },
          { base64 },
          { base64, extra: { revised_prompt: "A cat" } },
          { url, base64 }
        ],
        faults: [],
        extra: { created: 7, usage: { total_tokens: 4 } }
      })
    })
  )

  it.effect("an image that a gateway refuses does not lose those that it made", () =>
    Effect.gen(function* () {
      const data = [
        { url },
        { error: { code: "filtered", message: "Not this one." } },
        { url: "ftp://x/1" },
        {}
      ]
      const { faults, images } = yield* behaving(answering({ data }), generate())
      assert.deepStrictEqual(images, [{ url }])
      assert.deepStrictEqual(faults, [
        { index: 1, message: "Not this one." },
        { index: 2, message: "Its link is neither http nor https." },
        { index: 3, message: "It carries neither a link nor Base64." }
      ])
    })
  )

  it.effect("an answer with neither images nor a task is no answer", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [body: unknown, tag: string, message: RegExp]> = [
        [{}, "InvalidResponse", /neither images nor the id of a task/],
        [{ data: [] }, "InvalidResponse", /neither images/],
        [{ id: "", data: null }, "InvalidResponse", /form of the contract/],
        [{ data: [{}], status: "completed" }, "InvalidResponse", /no image: It carries neither/],
        [{ id: "t", status: "completed", data: [] }, "InvalidResponse", /no image: The data is empty/],
        [{ data: "x" }, "InvalidResponse", /form of the contract/],
        ["<html>", "InvalidResponse", /./],
        [openAi({ message: "Too many.", code: "rate_limit_exceeded" }), "RateLimited", /Too many/],
        [
          { success: false, message: "No balance.", code: "insufficient_user_quota" },
          "InsufficientQuota",
          /No bal/
        ],
        [{ status: "failed", error: { message: "Not this." } }, "ServerFailure", /Not this/]
      ]
      for (const [body, tag, message] of cases) {
        const reason = yield* behaving(answering(body), reasonOf(generate()))
        assert.strictEqual(reason._tag, tag, JSON.stringify(body))
        assert.match(reason.message, message)
      }
    })
  )

  it.effect("a creation is not made again after a failure of the gateway's", () =>
    Effect.gen(function* () {
      const reason = yield* behaving(
        refuse(503, openAi({})),
        Effect.gen(function* () {
          const reason = yield* reasonOf(running(generate()))
          assert.strictEqual((yield* requests).length, 1)
          return reason
        })
      )
      assert.strictEqual(reason._tag, "ServerFailure")
    })
  )

  it.effect("images at once are given back without a look, whatever the status says", () =>
    Effect.gen(function* () {
      for (const status of [undefined, "completed", "succeeded"]) {
        const body = { data: [link], ...(status && { status }) }
        const asked = yield* behaving(answering(body, 201), Effect.andThen(generate(), requests))
        assert.deepStrictEqual(asked, ["POST /v1/images/generations"])
      }
      const body = { id: "t/1", data: [link] }
      const answer = yield* behaving(answering(body), Effect.andThen(generate(), requests))
      assert.deepStrictEqual(answer, ["POST /v1/images/generations"])
    })
  )

  it.effect("a task is looked at every 5 seconds, through every unknown status, until it is completed", () =>
    Effect.gen(function* () {
      const looks = [{ status: "queued" }, { status: "painting", data: [] }, { data: null }]
      const times: Array<number> = []
      const clock = yield* Effect.clockWith(Effect.succeed)
      const steps = task(...looks, { status: "completed", data: [link] })
      const behaviour: Behaviour = (seen, response, nth) => {
        times.push(clock.currentTimeMillisUnsafe())
        steps(seen, response, nth)
      }
      const answer = yield* behaving(behaviour, running(generate()))
      assert.deepStrictEqual(answer, { id: "t/1", status: "completed", images: [{ url }], faults: [] })
      assert.strictEqual(times.length, 5)
      for (const [i, time] of times.slice(1).entries()) assert.isAtLeast(time - (times[i] ?? 0), 5000)
    })
  )

  it.effect("the id of a task goes encoded into the path, and one that would leave it goes nowhere", () =>
    Effect.gen(function* () {
      const done = answering({ status: "completed", data: [link] })
      const { get } = yield* images
      assert.deepStrictEqual(yield* behaving(done, Effect.andThen(get("t/1?x#y"), requests)), [
        "GET /v1/images/generations/t%2F1%3Fx%23y"
      ])
      for (const id of ["", ".", ".."]) {
        assert.strictEqual((yield* behaving(done, reasonOf(get(id))))._tag, "InvalidRequest", id)
      }
    })
  )

  it.effect("a failed task is TaskFailed with its id and its error, from generate and from resume", () =>
    Effect.gen(function* () {
      const error = { code: "content_policy", message: "Not this prompt." }
      const failing = task({ status: "queued" }, { status: "failed", error })
      const { get, resume } = yield* images
      for (const effect of [generate({ group: "I5" }), resume("t/1")]) {
        const reason = yield* behaving(failing, reasonOf(running(effect)))
        if (reason._tag !== "TaskFailed") assert.fail(reason._tag)
        assert.deepStrictEqual([reason.task, reason.error], ["t/1", error])
        assert.match(reason.message, /Not this prompt/)
      }
      const seen = yield* behaving(answering({ status: "failed", error }), get("t/1"))
      assert.deepStrictEqual(seen, { id: "t/1", status: "failed", images: [], faults: [], error })
    })
  )

  it.effect("the deadline ends the wait and names the task, which resume takes up", () =>
    Effect.gen(function* () {
      const call = Effect.flatMap(images, ({ generate }) => generate(untyped({}), { deadline: "1 minute" }))
      const error = yield* behaving(task({ status: "queued" }), Effect.flip(running(call)))
      assert.strictEqual((error as GatewayError).reason._tag, "TimedOut")
      assert.strictEqual((error as GatewayError).task, "t/1")
      assert.match((error as GatewayError).message, /resume it by its id, t\/1/)
      const { resume } = yield* images
      const done = answering({ status: "completed", data: [link] })
      const answer = yield* behaving(done, resume("t/1"))
      assert.deepStrictEqual(answer.images, [{ url }])
    })
  )

  it.effect("the deadline holds for a model that answers at once and does not", () =>
    Effect.gen(function* () {
      const call = Effect.flatMap(images, ({ generate }) => generate(untyped({}), { deadline: "1 minute" }))
      const reason = yield* behaving(() => undefined, reasonOf(running(call)))
      assert.strictEqual(reason._tag, "TimedOut")
      assert.match(reason.message, /may have been made all the same/)
    })
  )

  it.effect("whoever interrupts the wait is told the id", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const logger = Logger.make(({ message }) => void lines.push(String(message)))
      yield* behaving(
        task({ status: "queued" }),
        Effect.gen(function* () {
          const { seen } = yield* LoopbackGateway
          const fiber = yield* Effect.forkChild(generate())
          while (seen.length < 2) {
            yield* tick
            yield* TestClock.adjust("1 second")
          }
          const exit = yield* Effect.andThen(Fiber.interrupt(fiber), Fiber.await(fiber))
          assert.isTrue(Exit.hasInterrupts(exit))
        }).pipe(Effect.provide(Logger.layer([logger])))
      )
      assert.match(lines.join("\n"), /resume it by its id, t\/1/)
    })
  )

  it.effect("links of group I4 end after 24 hours; of others nobody knows; Base64 does not end", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1000 * HOUR)
      const done = { status: "completed", data: [link, { b64_json: onePixel.png }] }
      const { get, resume } = yield* images
      const expiries = ({ images }: ImageAnswer) => images.map(({ expiresAt }) => expiresAt)
      const known = [1024 * HOUR, undefined]
      assert.deepStrictEqual(expiries(yield* behaving(answering(done), generate({ group: "I4" }))), known)
      assert.deepStrictEqual(expiries(yield* behaving(answering(done), get("t", { group: "I4" }))), known)
      assert.deepStrictEqual(expiries(yield* behaving(answering(done), resume("t", { group: "I4" }))), known)
      const unknown = [undefined, undefined]
      assert.deepStrictEqual(expiries(yield* behaving(answering(done), generate({ group: "I5" }))), unknown)
      assert.deepStrictEqual(expiries(yield* behaving(answering(done), resume("t"))), unknown)
    })
  )

  it.effect("bytes come from Base64 or from a link, and are looked at", () =>
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
      const bad: ReadonlyArray<
        readonly [Effect.Effect<unknown, GatewayError, LoopbackGateway>, string, RegExp]
      > = [
        [load({ base64: "AAA" }), "InvalidResponse", /Base64 is damaged/],
        [load({ base64: onePixel.gif }), "InvalidResponse", /a GIF/],
        [load({}), "InvalidRequest", /no http or https/],
        [load({ url: "file:///etc/passwd" }), "InvalidRequest", /no http or https/],
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

  it.effect("the key goes to the gateway alone: to no other host, and along no redirect to one", () =>
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

  it.effect("redirects that go round in a ring end, and one to another scheme is not followed", () =>
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

  it.effect("a link that has ended is NotFound, however its host says so", () =>
    Effect.gen(function* () {
      const other = Context.get(yield* Layer.build(Layer.fresh(LoopbackGateway.layer)), LoopbackGateway)
      const { load } = yield* images
      for (const status of [401, 403, 404, 410]) {
        other.behave(refuse(status, "<Error>AccessDenied</Error>"))
        const reason = yield* reasonOf(load({ url: `${other.url}/1.png` }))
        assert.strictEqual(reason._tag, "NotFound", String(status))
        assert.match(reason.message, /no longer gives the image out/)
      }
    })
  )

  it.effect("a download is tried again, and a file is there whole or not at all", () =>
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
      assert.match((yield* reasonOf(save(base64, `${folder}/none/c.png`))).message, /cannot be written/)
      assert.deepStrictEqual(yield* files.readDirectory(folder), ["a.png"])
    })
  )
})

describe("the wire forms of images", () => {
  /** As it comes from the network, where there is no -0. */
  const wired = (value: object) => JSON.parse(JSON.stringify(value)) as object

  const text = Schema.NonEmptyString
  const json = Schema.Record(Schema.String, Schema.Json)
  const keys = Schema.Struct({
    prompt: text,
    model: text,
    n: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10 })),
    image: Schema.Union([text, Schema.Array(text)]),
    seed: Schema.Int,
    raw: Schema.Boolean
  })

  it.prop(
    "a request comes back as it was, with what the interface does not name",
    [keys, json],
    ([known, extra]) => {
      const wire = wired({ ...extra, ...known })
      const request = Schema.decodeUnknownSync(ImageRequest)(wire)
      assert.deepStrictEqual(Schema.encodeSync(ImageRequest)(request) as object, wire)
    }
  )

  const datum = Schema.Struct({ url: text, revised_prompt: text, b64_json: text, base64_json: text })
  const answer = Schema.Struct({ id: text, status: text, data: Schema.Array(datum) })

  it.prop("an answer comes back as it was, at every depth", [answer, json], ([known, extra]) => {
    const wire = wired({ ...extra, ...known })
    const response = Schema.decodeUnknownSync(ImageResponse)(wire)
    assert.deepStrictEqual(Schema.encodeSync(ImageResponse)(response) as object, wire)
    assert.deepStrictEqual(
      response.data?.map(({ extra }) => extra?.["revised_prompt"]),
      known.data.map(({ revised_prompt }) => revised_prompt)
    )
  })
})
