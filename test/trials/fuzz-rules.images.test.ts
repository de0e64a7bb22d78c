/** The interface's rules for images, as JSON and as forms. */
import { assert, layer } from "@effect/vitest"
import { ImageResponse } from "@sluice/core/contract"
import { makeDataUri } from "@sluice/core/media"
import { Effect, Schema } from "effect"
import { testServer, TestServer } from "../demo-server/TestServer.ts"
import { BLUE, GIF, GREEN, JPEG, png, RED, WEBP } from "../laws/Pictures.ts"
import { asForm, type Body, checkRules, type Rule } from "../fuzz/Rule.ts"

const path = "/v1/images/generations"
const of = (group: string) => ({ model: `sluice-image-${group.toLowerCase()}` })
const I1 = of("I1")
const I2 = of("I2")
const I3 = of("I3")
const I4 = of("I4")
const I5 = of("I5")
const I6 = of("I6")
const groups = [I1, I2, I3, I4, I5, I6]

const picture = makeDataUri("image/png", png(RED))
const pictures = (count: number) => Array.from({ length: count }, () => picture)

/** Bodies with each value of a field, for one model. */
const each = (model: Body, field: string, values: ReadonlyArray<unknown>): ReadonlyArray<Body> =>
  values.map((value) => ({ ...model, [field]: value }))
const none = (model: Body, field: string, values: ReadonlyArray<unknown>) =>
  each(model, field, values).map((body) => [field, body] as const)

/** Rules that a form can express too. */
const rules: ReadonlyArray<Rule> = [
  {
    rule: "n: 1 to 10, 1 when not given",
    takes: each(I1, "n", [1, 10]),
    refuses: groups.flatMap((model) => none(model, "n", [0, 11, -1, 1.5, 1e15, "many"]))
  },
  {
    rule: "size: 1K, 2K, 4K, auto or pixels; hd for one group",
    takes: [
      ...groups.flatMap((model) => each(model, "size", ["64x64", "32x16"])),
      ...each(I6, "size", ["1K", "auto"])
    ],
    refuses: [
      ...none(I1, "size", ["huge", "0x64", "64x0", "-64x64", "64X64", "3K", "1k", "9999999x1", "64x64x64"]),
      ...none(I2, "size", ["hd"]),
      ...none(I6, "size", ["8x8", "8192x8192"])
    ]
  },
  {
    rule: "quality: low, medium, high; hd for one group",
    takes: [
      ...groups.flatMap((model) => each(model, "quality", ["low", "medium", "high"])),
      ...each(I1, "quality", ["hd"])
    ],
    refuses: [...none(I1, "quality", ["best", "HIGH"]), ...none(I2, "quality", ["hd"])]
  },
  {
    rule: "I1: input_fidelity, moderation, output_format",
    takes: [
      ...each(I1, "moderation", ["auto", "low"]),
      ...each(I1, "output_format", ["png", "jpeg", "webp"]),
      ...each({ ...I1, image: picture }, "input_fidelity", ["high", "low"])
    ],
    refuses: [
      ...none(I1, "moderation", ["high"]),
      ...none(I1, "output_format", ["gif", "PNG"]),
      ...none(I1, "input_fidelity", ["medium"]),
      ...[I2, I3, I4, I5, I6].flatMap((model) => [
        ...none(model, "moderation", ["low"]),
        ...none(model, "output_format", ["png"]),
        ...none(model, "input_fidelity", ["high"])
      ])
    ]
  },
  {
    rule: "I5: safety_tolerance 0 to 5, aspect_ratio, seed, raw",
    takes: [
      ...each(I5, "safety_tolerance", [0, 2, 5]),
      ...each(I5, "aspect_ratio", ["16:9", "1:1", "4:3"]),
      ...each(I5, "seed", [0, 7, 2_147_483_647]),
      ...each(I5, "raw", [true, false])
    ],
    refuses: [
      ...none(I5, "safety_tolerance", [-1, 6, 2.5]),
      ...none(I5, "aspect_ratio", ["wide", "16x9", "0:1"]),
      ...none(I5, "seed", [1.5]),
      ...none(I5, "raw", ["yes"]),
      ...[I1, I2, I3, I4, I6].flatMap((model) => [
        ...none(model, "safety_tolerance", [2]),
        ...none(model, "aspect_ratio", ["16:9"]),
        ...none(model, "raw", [true])
      ])
    ]
  },
  {
    rule: "seeds: 0 to 2147483647 for I3, from -1 for I4, none for I1, I2 and I6",
    takes: [...each(I3, "seed", [0, 2_147_483_647]), ...each(I4, "seed", [-1, 0, 2_147_483_647])],
    refuses: [
      ...none(I3, "seed", [-1, 2_147_483_648]),
      ...none(I4, "seed", [-2, 2_147_483_648]),
      ...[I1, I2, I6].flatMap((model) => none(model, "seed", [1]))
    ]
  },
  {
    rule: "watermark: I3 and I4; sequential_image_generation: I4",
    takes: [
      ...[I3, I4].flatMap((model) => each(model, "watermark", [true, false])),
      ...each(I4, "sequential_image_generation", ["auto", "disabled"])
    ],
    refuses: [
      ...none(I4, "sequential_image_generation", ["always"]),
      ...none(I3, "watermark", ["perhaps"]),
      ...[I1, I2, I5, I6].flatMap((model) => none(model, "watermark", [true])),
      ...[I1, I2, I3, I5, I6].flatMap((model) => none(model, "sequential_image_generation", ["auto"]))
    ]
  },
  {
    rule: "response_format: url or base64_json",
    takes: each(I4, "response_format", ["url", "base64_json"]),
    refuses: none(I4, "response_format", ["png"])
  },
  {
    rule: "I4: reference and generated images, 15 together at most",
    takes: [
      { ...I4, image: pictures(14), n: 1 },
      { ...I4, image: pictures(5), n: 10 }
    ],
    refuses: [
      ["image", { ...I4, image: pictures(15) }],
      ["image", { ...I4, image: pictures(14), n: 2 }],
      ["image", { ...I4, image: pictures(6), n: 10 }]
    ]
  },
  {
    rule: "image: PNG, JPEG or WEBP, as a data URI or Base64; one but for I4, none for I2; never a file of the server",
    takes: [
      ...[I1, I3, I4, I5, I6].map((model) => ({ ...model, image: picture })),
      ...each(I1, "image", [
        makeDataUri("image/jpeg", JPEG),
        makeDataUri("image/webp", WEBP),
        Buffer.from(png(BLUE)).toString("base64")
      ])
    ],
    refuses: [
      ...none(I2, "image", [picture]),
      ...none(I3, "image", [pictures(2)]),
      ...none(I1, "image", [
        makeDataUri("image/png", GIF),
        "data:image/gif;base64,R0lGODlhAQABAAAAACw=",
        "data:image/png;base64,iVBORw0KGgo=",
        "/etc/passwd",
        "file:///etc/passwd",
        "package.json",
        "http://127.0.0.1/a.png",
        "http://169.254.169.254/a.png",
        "ftp://example.com/a.png"
      ])
    ]
  },
  {
    rule: "model and prompt are wanted",
    refuses: [
      ["prompt", { ...I1, prompt: undefined }],
      ["prompt", { ...I1, prompt: "" }],
      ["model", { model: undefined }],
      ["model", { model: "" }],
      ["model", { model: "sluice-ocr" }]
    ]
  }
]

const OPTIONAL = [
  "n",
  "quality",
  "image",
  "input_fidelity",
  "moderation",
  "output_format",
  "safety_tolerance",
  "aspect_ratio",
  "seed",
  "raw",
  "watermark",
  "sequential_image_generation",
  "response_format"
]

/** Rules that only JSON can express. */
const types: ReadonlyArray<Rule> = [
  {
    rule: "null is a field that is not given",
    takes: groups.map((model) => ({
      ...model,
      ...Object.fromEntries(OPTIONAL.map((name) => [name, null]))
    })),
    refuses: [
      ["prompt", { ...I1, prompt: null }],
      ["model", { model: null }]
    ]
  },
  {
    rule: "a number is no text, and a text no number",
    refuses: [
      ...none(I1, "n", ["1", true, [1], {}]),
      ...none(I1, "prompt", [1, ["a"], {}]),
      ...none(I1, "size", [1024, {}]),
      ...none(I5, "seed", ["7"]),
      ...none(I5, "raw", ["true", 1]),
      ...none(I3, "watermark", ["false", 0]),
      ...none(I1, "image", [1, {}]),
      ...none(I1, "output_format", [1])
    ]
  }
]

const base = { prompt: "A barge in a lock", size: "64x64" }

layer(testServer(), { excludeTestServices: true })("images, in JSON", (it) => {
  checkRules(it, [...rules, ...types], { path, base })

  it.effect("returns n images", () =>
    Effect.gen(function* () {
      const { json } = yield* TestServer
      for (const n of [undefined, 1, 10]) {
        const { data } = yield* json(ImageResponse, path, { json: { ...base, ...I1, n } })
        assert.lengthOf(data ?? [], n ?? 1)
      }
    })
  )
})

layer(testServer(), { excludeTestServices: true })("images, as forms", (it) => {
  // Rules for fields that are not texts, and for images.
  const some = rules.filter(({ rule }) => /^(n|I4|I5|image|watermark)\b/.test(rule))
  checkRules(it, some, { path, base, send: asForm })

  it.effect("accepts several image files under either field name", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      for (const name of ["image", "image[]"]) {
        const form = new FormData()
        for (const [field, value] of Object.entries({
          ...base,
          ...I4,
          response_format: "base64_json",
          seed: "7"
        })) {
          form.append(field, value)
        }
        for (const colour of [RED, GREEN]) form.append(name, new Blob([png(colour).slice()]), "a.png")
        const response = yield* call(path, { body: form })
        const body = yield* Effect.promise(() => response.json() as Promise<unknown>)
        const { data } = Schema.decodeUnknownSync(ImageResponse)(body)
        assert.isNotEmpty(data?.[0]?.base64_json)
      }
    })
  )

  it.effect("distinguishes an unsupported content type from a malformed form", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const sent = (body: string, type: string) =>
        Effect.map(call(path, { body, headers: { "content-type": type } }), ({ status }) => status)
      assert.strictEqual(yield* sent(JSON.stringify({ ...base, ...I1 }), "text/plain"), 415)
      assert.strictEqual(yield* sent("{", "application/json"), 400)
      assert.strictEqual(yield* sent("--b\r\n", "multipart/form-data"), 400)
      assert.strictEqual(yield* sent("--b\r\ncontent-dis", "multipart/form-data; boundary=b"), 400)
    })
  )
})
