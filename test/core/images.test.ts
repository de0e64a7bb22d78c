import { assert, describe, it, layer } from "@effect/vitest"
import { type ImageCall, ModelCatalogue } from "@sluice/core"
import { IMAGE_GROUPS, ImageRequest, ImageResponse } from "@sluice/core/contract"
import { Effect, FileSystem, Schema } from "effect"
import { behaving, reasonOf } from "./Clients.ts"
import { answering, Client, generate, images, link, sent, task, untyped, url } from "./imagesClient.ts"
import { KEY, requests, running } from "./tasksClient.ts"
import { LoopbackGateway, openAi } from "./LoopbackGateway.ts"
import { onePixel, png } from "./mediaImages.ts"
import { jsonRoundTrip } from "./jsonRoundTrip.ts"

layer(Client)("images", (it) => {
  it.effect("sends every field under its wire name, without the group", () =>
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
        [
          untyped({ ...common, group: "I6", image: new URL(url), extra: { operation: "erase" } }),
          { image: url, operation: "erase" }
        ],
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

  it.effect("sends no defaults", () =>
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
    [{ group: "I7" }, "group", /I7 is not a group of image models: I1, I2, I3, I4, I5, I6/],
    [{ group: "I1", size: "3K" }, "size", /1K, 2K, 4K, auto, hd, or pixels/],
    [{ group: "I3", size: "hd" }, "size", /1K, 2K, 4K, auto, or pixels/],
    [{ group: "I1", size: "0x1024" }, "size", /pixels such as 1024x1024/],
    [{ group: "I2", n: 0 }, "n", /1, 2, 3, .* 9, 10/],
    [{ group: "I2", n: 11 }, "n", /1, 2, 3, .* 9, 10/],
    [{ group: "I2", n: 1.5 }, "n", /group I2/],
    [{ group: "I2", image: url }, "image", /not a field of group I2. The fields are group, model, prompt/],
    [{ group: "I2", quality: "hd" }, "quality", /low, medium, high/],
    [{ group: "I1", inputFidelity: "medium" }, "inputFidelity", /high, low/],
    [{ group: "I1", moderation: "high" }, "moderation", /auto, low/],
    [{ group: "I1", outputFormat: "gif" }, "outputFormat", /png, jpeg, webp/],
    [{ group: "I1", seed: 1 }, "seed", /not a field of group I1/],
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
    [{ group: "I6", raw: true }, "raw", /not a field of group I6/],
    [{ n: 11 }, "n", /1 to 10/],
    [{ safetyTolerance: -1 }, "safetyTolerance", /0 to 5/],
    [{ prompt: "" }, "prompt", /length of at least 1/],
    [{ size: 1024 }, "size", /string/],
    [{ extra: { n: 99 } }, "extra.n", /is not allowed in `extra`/],
    [{ group: "I6", extra: { seed: 1 } }, "extra.seed", /is not allowed in `extra`/],
    [{ image: onePixel.gif }, "image", /a GIF/],
    [{ group: "I4", image: [url, { file: "/no/such.png" }] }, "image", /\/no\/such\.png cannot be read/]
  ]
  it.effect("validates a call without a group by the catalogue", () =>
    Effect.gen(function* () {
      const { behave } = yield* LoopbackGateway
      behave(answering({ data: [link] }))
      const known = Effect.provide(ModelCatalogue.layer({ I4: ["m"], "V-A": ["film"] }))
      const reason = yield* reasonOf(known(generate({ safetyTolerance: 2 })))
      assert.match(reason.message, /not a field of group I4/)
      assert.deepStrictEqual(yield* requests, [])
      const made = yield* known(generate({ seed: -1, extra: { style: "vivid" } }))
      assert.isDefined(made.images[0]?.expiresAt)
      assert.deepStrictEqual(yield* sent, { model: "m", prompt: "p", seed: -1, style: "vivid" })
      behave(task({ status: "completed", data: [link] }))
      const waited = yield* running(known(generate()))
      assert.isDefined(waited.images[0]?.expiresAt)
      behave(answering({ data: [link] }))
      for (const model of ["film", "unknown"]) {
        const { images } = yield* known(generate({ model, safetyTolerance: 2 }))
        assert.isUndefined(images[0]?.expiresAt)
      }
    })
  )

  it.effect("refuses invalid values of a group before sending, and names the valid ones", () =>
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

  it.effect("sends files and bytes as data URIs", () =>
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

  it.effect("reads links and Base64 under every known field name", () =>
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

  it.effect("a refused image does not lose the others", () =>
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
        { index: 2, message: "Its link is not an http or https URL." },
        { index: 3, message: "It has neither a link nor Base64." }
      ])
    })
  )

  it.effect("rejects a response with neither images nor a task", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [body: unknown, tag: string, message: RegExp]> = [
        [{}, "InvalidResponse", /neither images nor the id of a task/],
        [{ data: [] }, "InvalidResponse", /neither images/],
        [{ id: "", data: null }, "InvalidResponse", /neither images/],
        [{ data: [{}], status: "completed" }, "InvalidResponse", /no image: It has neither/],
        [{ id: "t", status: "completed", data: [] }, "InvalidResponse", /no image: The data is empty/],
        [{ data: "x" }, "InvalidResponse", /not match the contract/],
        ["<html>", "InvalidResponse", /./],
        [openAi({ message: "Too many.", code: "rate_limit_exceeded" }), "RateLimited", /Too many/],
        [
          { success: false, message: "No balance.", code: "insufficient_user_quota" },
          "InsufficientQuota",
          /No bal/
        ],
        [{ status: "failed", error: { message: "Not this." } }, "TaskFailed", /Not this/]
      ]
      for (const [body, tag, message] of cases) {
        const reason = yield* behaving(answering(body), reasonOf(generate()))
        assert.strictEqual(reason._tag, tag, JSON.stringify(body))
        assert.match(reason.message, message)
      }
    })
  )
})

describe("the wire forms of images", () => {
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

  it.prop("a request decodes as it was encoded, with undeclared fields", [keys, json], ([known, extra]) => {
    const wire = jsonRoundTrip({ ...extra, ...known })
    const request = Schema.decodeUnknownSync(ImageRequest)(wire)
    assert.deepStrictEqual(Schema.encodeSync(ImageRequest)(request) as object, wire)
  })

  const datum = Schema.Struct({ url: text, revised_prompt: text, b64_json: text, base64_json: text })
  const answer = Schema.Struct({ id: text, status: text, data: Schema.Array(datum) })

  it.prop("a response decodes as it was encoded, at every depth", [answer, json], ([known, extra]) => {
    const wire = jsonRoundTrip({ ...extra, ...known })
    const response = Schema.decodeUnknownSync(ImageResponse)(wire)
    assert.deepStrictEqual(Schema.encodeSync(ImageResponse)(response) as object, wire)
    assert.deepStrictEqual(
      response.data?.map(({ extra }) => extra?.["revised_prompt"]),
      known.data.map(({ revised_prompt }) => revised_prompt)
    )
  })
})
