/** Images over HTTP: the effect of each parameter on the pixels, both flows, and access to results. */
import { assert, layer } from "@effect/vitest"
import { ImageResponse, ModelsResponse } from "@sluice/core/contract"
import { makeDataUri } from "@sluice/core/media"
import { Effect, Schema } from "effect"
import sharp from "sharp"
import { PNG } from "../../packages/core/src/conformance/checks/Chat.ts"
import { errorOf, testServer, TestServer } from "./TestServer.ts"

const path = "/v1/images/generations"
const small = { prompt: "A lock on a quiet river", size: "64x48" }
const two = "sluice-image-i5-task"

/** The raw pixels of a file, three bytes each. */
const pixelsOf = (file: Uint8Array) => Effect.promise(() => sharp(file).removeAlpha().raw().toBuffer())

/** The mean pixel difference of two images of the same size, 0 to 255. */
const distance = (a: Uint8Array, b: Uint8Array): number =>
  a.reduce((sum, value, at) => sum + Math.abs(value - (b[at] ?? 0)), 0) / a.length

layer(testServer(), { excludeTestServices: true, timeout: "60 seconds" })("images", (it) => {
  const post = (body: object) =>
    Effect.flatMap(TestServer, ({ json }) => json(ImageResponse, path, { json: body }))
  /** Downloads the files of a response. */
  const filesOf = ({ data = [] }: ImageResponse) =>
    Effect.forEach(data, ({ url = "" }) =>
      Effect.promise(async () => new Uint8Array(await (await fetch(url)).arrayBuffer()))
    )
  const paint = (body: object) => Effect.flatMap(post({ ...small, ...body }), filesOf)
  const one = (body: object) => Effect.map(paint(body), ([first = new Uint8Array()]) => first)
  const pixels = (body: object) => Effect.flatMap(one(body), pixelsOf)
  const shapeOf = (body: object) =>
    Effect.flatMap(one(body), (file) => Effect.promise(() => sharp(file).metadata()))
  const refused = (body: object) =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const response = yield* call(path, { json: body })
      return { status: response.status, ...(yield* errorOf(response)) }
    })
  /** Polls until the task has ended. */
  const ended = (id: string | undefined): Effect.Effect<ImageResponse, never, TestServer> =>
    Effect.flatMap(TestServer, ({ json }) => json(ImageResponse, `${path}/${id}`)).pipe(
      Effect.repeat({ until: ({ status }) => status !== "in_progress" })
    )

  it.effect("every group has a model, I5 also two with two steps, and the list describes them", () =>
    Effect.gen(function* () {
      const { json } = yield* TestServer
      const { data } = yield* json(ModelsResponse, "/v1/models")
      const groups = data.flatMap(({ extra }) => (/^I\d$/.test(String(extra?.["group"])) ? [extra] : []))
      assert.sameMembers(
        groups.map((extra) => extra?.["group"]),
        ["I1", "I2", "I3", "I4", "I5", "I5", "I5", "I6"]
      )
      for (const extra of groups) assert.include(String(extra?.["note"]), "no understanding")
    })
  )

  it.effect("size and aspect_ratio set the dimensions", () =>
    Effect.gen(function* () {
      const shapes: ReadonlyArray<readonly [object, number, number]> = [
        [{ model: "sluice-image-i2" }, 64, 48],
        [{ model: "sluice-image-i2", size: null }, 1024, 1024],
        [{ model: "sluice-image-i6", size: "2K" }, 2048, 2048],
        [{ model: "sluice-image-i5", size: "1K", aspect_ratio: "16:9" }, 1024, 576],
        [{ model: "sluice-image-i5", size: "96x96", aspect_ratio: "3:4" }, 72, 96]
      ]
      for (const [body, width, height] of shapes) {
        const shape = yield* shapeOf(body)
        assert.deepStrictEqual([shape.width, shape.height], [width, height], JSON.stringify(body))
      }
    })
  )

  it.effect("the server responds while a 4K image is drawn", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const order: Array<string> = []
      const noted = (name: string) => Effect.sync(() => void order.push(name))
      yield* Effect.all(
        [
          Effect.andThen(shapeOf({ model: "sluice-image-i6", size: "4K", quality: "low" }), (shape) => {
            assert.deepStrictEqual([shape.width, shape.height], [4096, 4096])
            return noted("image")
          }),
          Effect.andThen(call("/v1/models"), noted("models"))
        ],
        { concurrency: 2 }
      )
      assert.deepStrictEqual(order, ["models", "image"])
    })
  )

  it.effect("output_format sets the file format", () =>
    Effect.gen(function* () {
      for (const format of ["png", "jpeg", "webp"]) {
        const { format: drawn } = yield* shapeOf({ model: "sluice-image-i1", output_format: format })
        assert.strictEqual(drawn, format)
      }
    })
  )

  it.effect("the same seed reproduces an image; -1 and no seed are random", () =>
    Effect.gen(function* () {
      for (const model of ["sluice-image-i3", "sluice-image-i4", "sluice-image-i5"]) {
        const first = yield* pixels({ model, seed: 7 })
        assert.strictEqual(distance(first, yield* pixels({ model, seed: 7 })), 0, model)
        assert.isAbove(distance(first, yield* pixels({ model, seed: 8 })), 1, model)
      }
      const chance = { model: "sluice-image-i4", seed: -1 }
      assert.isAbove(distance(yield* pixels(chance), yield* pixels(chance)), 0)
    })
  )

  it.effect("n sets the number of images, all different", () =>
    Effect.gen(function* () {
      const files = yield* paint({ model: "sluice-image-i2", n: 3 })
      assert.lengthOf(new Set(files.map((file) => Buffer.from(file).toString("base64"))), 3)
    })
  )

  it.effect("watermark is drawn at the bottom right, and by default for I3", () =>
    Effect.gen(function* () {
      const corner = (body: object) =>
        Effect.flatMap(one({ ...body, size: "256x256", seed: 3 }), (file) =>
          Effect.promise(() =>
            sharp(file)
              .extract({ left: 156, top: 216, width: 100, height: 40 })
              .removeAlpha()
              .raw()
              .toBuffer()
          )
        )
      const bare3 = yield* corner({ model: "sluice-image-i3", watermark: false })
      assert.isAbove(distance(yield* corner({ model: "sluice-image-i3" }), bare3), 1)
      const bare4 = yield* corner({ model: "sluice-image-i4" })
      assert.isAbove(distance(yield* corner({ model: "sluice-image-i4", watermark: true }), bare4), 1)
    })
  )

  it.effect("raw and quality change the image", () =>
    Effect.gen(function* () {
      const i5 = { model: "sluice-image-i5", seed: 5, size: "256x256" }
      const usual = yield* pixels(i5)
      assert.isAbove(distance(usual, yield* pixels({ ...i5, raw: true })), 1)
      assert.isAbove(distance(usual, yield* pixels({ ...i5, quality: "high" })), 0.1)
    })
  )

  it.effect("input_fidelity sets the similarity to the reference", () =>
    Effect.gen(function* () {
      const reference = yield* Effect.promise(() =>
        sharp({ create: { width: 64, height: 48, channels: 3, background: "#d02020" } })
          .png()
          .toBuffer()
      )
      const image = makeDataUri("image/png", reference)
      const of = (input_fidelity: string) =>
        Effect.gen(function* () {
          const drawn = yield* pixels({ model: "sluice-image-i1", image, input_fidelity })
          return distance(drawn, yield* pixelsOf(reference))
        })
      const [high, low] = [yield* of("high"), yield* of("low")]
      assert.isAbove(high, 0)
      assert.isBelow(high, low / 1.5)
    })
  )

  it.effect("sequential_image_generation: auto makes a series of similar images", () =>
    Effect.gen(function* () {
      const spread = (sequential_image_generation: string) =>
        Effect.gen(function* () {
          const files = yield* paint({
            model: "sluice-image-i4",
            seed: 11,
            n: 3,
            sequential_image_generation
          })
          const [a, b, c] = yield* Effect.forEach(files, pixelsOf)
          if (a === undefined || b === undefined || c === undefined)
            return assert.fail("three were asked for")
          return distance(a, b) + distance(b, c)
        })
      assert.isBelow(yield* spread("auto"), (yield* spread("disabled")) / 2)
    })
  )

  it.effect("safety_tolerance and moderation set which words are rejected", () =>
    Effect.gen(function* () {
      const prompt = "A red wound"
      const i5 = { ...small, prompt, model: "sluice-image-i5" }
      const i1 = { ...small, prompt, model: "sluice-image-i1" }
      for (const body of [i5, { ...i5, safety_tolerance: 2 }, i1]) {
        const error = yield* refused(body)
        assert.deepStrictEqual(
          [error.status, error.code, error.param],
          [400, "content_policy_violation", "prompt"]
        )
      }
      assert.lengthOf((yield* post({ ...i5, safety_tolerance: 3 })).data ?? [], 1)
      assert.lengthOf((yield* post({ ...i1, moderation: "low" })).data ?? [], 1)
    })
  )

  it.effect("response_format selects links or Base64, for every model", () =>
    Effect.gen(function* () {
      for (const name of ["b64_json", "base64_json"] as const) {
        const answer = yield* post({ ...small, model: "sluice-image-i2", response_format: name })
        const [image] = answer.data ?? []
        assert.deepStrictEqual(Object.keys(image ?? {}), [name])
        const { width } = yield* Effect.promise(() =>
          sharp(Buffer.from(image?.[name] ?? "", "base64")).metadata()
        )
        assert.strictEqual(width, 64)
      }
    })
  )

  it.effect("a two-step model returns a task, which completes with links", () =>
    Effect.gen(function* () {
      const begun = yield* post({ ...small, model: two, seed: 4 })
      assert.deepStrictEqual([begun.status, begun.data], ["in_progress", undefined])
      const done = yield* ended(begun.id)
      assert.deepStrictEqual([done.id, done.status], [begun.id, "completed"])
      const [file = new Uint8Array()] = yield* filesOf(done)
      const atOnce = yield* pixels({ model: "sluice-image-i5", seed: 4 })
      assert.strictEqual(distance(yield* pixelsOf(file), atOnce), 0)
    })
  )

  it.effect(
    "a form may have the prompt as a text file; binary files, and files above 20 MB, are rejected",
    () =>
      Effect.gen(function* () {
        const { call } = yield* TestServer
        const sent = (prompt: string | Uint8Array<ArrayBuffer>) => {
          const form = new FormData()
          form.append("model", "sluice-image-i5")
          form.append("prompt", new Blob([prompt], { type: "text/plain" }), "prompt.txt")
          form.append("size", small.size)
          form.append("seed", "4")
          return call(path, { body: form })
        }
        const answer = yield* sent(small.prompt)
        const drawn = Schema.decodeUnknownSync(ImageResponse)(yield* Effect.promise(() => answer.json()))
        const [file = new Uint8Array()] = yield* filesOf(drawn)
        assert.strictEqual(
          distance(yield* pixelsOf(file), yield* pixels({ model: "sluice-image-i5", seed: 4 })),
          0
        )
        for (const [bytes, status] of [
          [Uint8Array.of(0xff, 0xfe, 0), 400],
          [new Uint8Array(20 * 1024 * 1024 + 1), 413]
        ] as const) {
          const none = yield* sent(bytes)
          const error = yield* errorOf(none)
          assert.deepStrictEqual([none.status, error.param], [status, "prompt"])
        }
      })
  )

  it.effect("a missing prompt is an error, in a form and in JSON", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const body = new FormData()
      body.append("model", "sluice-image-i5")
      for (const sent of [{ body }, { json: { model: "sluice-image-i5" } }]) {
        const answer = yield* call(path, sent)
        const { message } = yield* errorOf(answer)
        assert.deepStrictEqual([answer.status, message], [400, "`prompt` is missing"])
      }
    })
  )

  it.effect("an unknown task is not found", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      for (const id of ["no-such-task", "..%2F..%2Fetc%2Fpasswd", "%00", "a".repeat(10_000)]) {
        assert.include([400, 404], (yield* call(`${path}/${id}`)).status)
      }
    })
  )

  it.effect("a link works without credentials and is not cached; unknown names are 404", () =>
    Effect.gen(function* () {
      const { call, url } = yield* TestServer
      const [image] = (yield* post({ ...small, model: "sluice-image-i2" })).data ?? []
      assert.isTrue(image?.url?.startsWith(`${url}/files/`))
      const found = yield* call(new URL(image?.url ?? "").pathname, { as: "none" })
      assert.deepStrictEqual(
        [found.status, found.headers.get("content-type"), found.headers.get("cache-control")],
        [200, "image/png", "private, no-store"]
      )
      for (const name of ["nothing.png", "..%2Faccounts.json", `zzzzzzz-${"a".repeat(43)}.png`]) {
        assert.strictEqual((yield* call(`/files/${name}`, { as: "none" })).status, 404, name)
      }
      assert.strictEqual((yield* call(`/files/1-${"a".repeat(43)}.png`, { as: "none" })).status, 410)
    })
  )

  const refusals: ReadonlyArray<readonly [string, object, string]> = [
    ["n of 11", { model: "sluice-image-i2", n: 11 }, "n"],
    ["a stream", { model: "sluice-image-i2", stream: true }, "stream"],
    ["n of 0", { model: "sluice-image-i2", n: 0 }, "n"],
    ["a prompt of 32,001 characters", { model: "sluice-image-i2", prompt: "a".repeat(32_001) }, "prompt"],
    ["a reference for I2, which takes none", { model: "sluice-image-i2", image: "AAAA" }, "image"],
    ["a seed for I1, which has none", { model: "sluice-image-i1", seed: 1 }, "seed"],
    ["a seed of -1 for I3", { model: "sluice-image-i3", seed: -1 }, "seed"],
    ["a seed of -2 for I4", { model: "sluice-image-i4", seed: -2 }, "seed"],
    ["a seed of 2^31", { model: "sluice-image-i4", seed: 2_147_483_648 }, "seed"],
    ["a tolerance of 6", { model: "sluice-image-i5", safety_tolerance: 6 }, "safety_tolerance"],
    ["a format that is none", { model: "sluice-image-i1", output_format: "gif" }, "output_format"],
    ["a fidelity that is none", { model: "sluice-image-i1", input_fidelity: "some" }, "input_fidelity"],
    ["a size of 16:9", { model: "sluice-image-i2", size: "16:9" }, "size"],
    ["a size of 60,000 pixels a side", { model: "sluice-image-i2", size: "60000x60000" }, "size"],
    ["a form that is none", { model: "sluice-image-i4", response_format: "xml" }, "response_format"],
    ["a path of the server", { model: "sluice-image-i3", image: "/etc/passwd" }, "image"],
    ["a file of the server", { model: "sluice-image-i3", image: "file:///etc/passwd" }, "image"],
    ["a pair of images for I1", { model: "sluice-image-i1", image: [PNG, PNG] }, "image"],
    ["a pixel of a model in two steps", { model: two, size: "1x1" }, "size"],
    ["a strip of a model in two steps", { model: two, size: "1K", aspect_ratio: "100:1" }, "size"],
    ["a private host", { model: "sluice-image-i3", image: "http://127.0.0.1/a.png" }, "image"],
    [
      "16 reference and generated images",
      { model: "sluice-image-i4", image: Array.from({ length: 6 }, () => "AAAA"), n: 10 },
      "image"
    ]
  ]
  for (const [name, body, param] of refusals) {
    it.effect(`${name} is rejected, naming \`${param}\``, () =>
      Effect.gen(function* () {
        const error = yield* refused({ ...small, ...body })
        assert.deepStrictEqual([error.status, error.param], [400, param])
        assert.notMatch(error.message, /[a-z][A-Z]\w*`|\bgroup,|responseFormat|\{ file|, extra\b/)
      })
    )
  }
})
