import { assert, describe, it } from "@effect/vitest"
import { type ImageFormat, imageFormatOf } from "@sluice/core/media"
import { checkPaint, paint, paintMany, type PaintRequest } from "@sluice/embedded/media"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import sharp from "sharp"
import { BLUE, GIF, GREEN, png, RED } from "../laws/Pictures.ts"

const request: PaintRequest = { prompt: "boats in the lock", width: 96, height: 64, format: "png" }

const pixelsOf = (file: Uint8Array) =>
  Effect.promise(async () => new Uint8Array(await sharp(file).removeAlpha().raw().toBuffer()))

const painted = (changes: Partial<PaintRequest> = {}) =>
  Effect.flatMap(paint({ ...request, ...changes }), pixelsOf)

/** The mean difference of two pictures' bytes, 0 to 255. */
const distance = (a: Uint8Array, b: Uint8Array): number => {
  assert.strictEqual(a.length, b.length)
  return a.reduce((sum, byte, i) => sum + Math.abs(byte - (b[i] ?? 0)), 0) / a.length
}

/** The mean of each channel. */
const meanOf = (pixels: Uint8Array): readonly [number, number, number] => {
  const sums: [number, number, number] = [0, 0, 0]
  for (const [i, byte] of pixels.entries()) sums[(i % 3) as 0 | 1 | 2] += byte
  const [red, green, blue] = sums.map((sum) => (sum * 3) / pixels.length)
  return [red ?? 0, green ?? 0, blue ?? 0]
}

/** The mean saturation, 0 to 255. */
const chromaOf = (pixels: Uint8Array): number => {
  let sum = 0
  for (let i = 0; i < pixels.length; i += 3) {
    const pixel = pixels.subarray(i, i + 3)
    sum += Math.max(...pixel) - Math.min(...pixel)
  }
  return sum / (pixels.length / 3)
}

/** The median difference of neighbouring pixels: noise is everywhere, edges are few. */
const stepOf = (pixels: Uint8Array): number => {
  const steps = pixels.slice(3).map((byte, i) => Math.abs(byte - (pixels[i] ?? 0)))
  return steps.toSorted()[Math.floor(steps.length / 2)] ?? 0
}

const boats = Effect.promise(() => readFile(join(import.meta.dirname, "../embedded/fixtures/boats.png")))

const refusal = (changes: Partial<PaintRequest>) =>
  Effect.map(Effect.flip(paint({ ...request, ...changes })), ({ operation, reason }) => {
    assert.strictEqual(operation, "images")
    assert.strictEqual(reason._tag, "InvalidRequest")
    return reason._tag === "InvalidRequest" ? reason : undefined
  })

describe("a painted picture", () => {
  it.effect.each(["png", "jpeg", "webp"] as const satisfies ReadonlyArray<ImageFormat>)(
    "is a real %s of the size that was asked for, and says what made it",
    (format) =>
      Effect.gen(function* () {
        const file = yield* paint({ ...request, format, width: 131, height: 77 })
        assert.strictEqual(imageFormatOf(file), format)
        const metadata = yield* Effect.promise(() => sharp(file).metadata())
        assert.deepInclude(metadata, { format, width: 131, height: 77, channels: 3, space: "srgb" })
        assert.include(metadata.exif?.toString("latin1"), "procedural: drawn from the words' hash")
        // Decoded to the last pixel, and not of one colour.
        const { channels } = yield* Effect.promise(() => sharp(file, { failOn: "warning" }).stats())
        assert.isAbove(Math.max(...channels.map(({ stdev }) => stdev)), 8)
      })
  )

  it.effect("has the same bytes for the same request, and others for another seed or prompt", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* paint(request), yield* paint({ ...request, seed: 0 }))
      const seeds = yield* Effect.forEach([0, 1, 2, -1, 2_147_483_647], (seed) => painted({ seed }))
      const prompts = yield* Effect.forEach(["a", "b", "船", ""], (prompt) => painted({ prompt }))
      for (const pictures of [seeds, prompts]) {
        for (const [i, a] of pictures.entries()) {
          for (const b of pictures.slice(i + 1)) assert.isAbove(distance(a, b), 5)
        }
      }
    })
  )

  it.effect("has the colours that the prompt names, in English and Chinese", () =>
    Effect.gen(function* () {
      const words = [
        ["a red fox", 0],
        ["红色的房子", 0],
        ["green tea", 1],
        ["绿茶", 1],
        ["something BLUE", 2],
        ["蓝色", 2]
      ] as const
      for (const [prompt, most] of words) {
        for (const seed of [1, 2, 3, 4]) {
          const mean = meanOf(yield* painted({ prompt, seed }))
          const others = mean.filter((_, i) => i !== most)
          assert.isAbove(mean[most] - Math.max(...others), 15, `${prompt}, seed ${seed}: ${mean.join(" ")}`)
        }
      }
      // A word that has a colour's letters in it names none.
      assert.isAbove(
        distance(yield* painted({ prompt: "a bored cat" }), yield* painted({ prompt: "a red cat" })),
        5
      )
    })
  )

  it.effect.each([
    [16, 16],
    [17, 300],
    [8192, 16]
  ] as const)("is drawn at %i × %i too, with everything that can be drawn", ([width, height]) =>
    Effect.gen(function* () {
      const reference = png(BLUE)
      const file = yield* paint({ ...request, width, height, raw: true, watermark: true, reference })
      assert.deepInclude(yield* Effect.promise(() => sharp(file).metadata()), { width, height })
    })
  )

  it.effect("is drawn up to 4,096 × 4,096", () =>
    Effect.gen(function* () {
      const file = yield* paint({ ...request, format: "jpeg", width: 4096, height: 4096 })
      const { height, width } = yield* Effect.promise(() => sharp(file).metadata())
      assert.deepStrictEqual([width, height], [4096, 4096])
    })
  )
})

describe("parameters of paint", () => {
  it.effect("watermark changes the bottom right corner only", () =>
    Effect.gen(function* () {
      const size = { width: 320, height: 240 }
      const without = yield* painted(size)
      const marked = yield* painted({ ...size, watermark: true })
      let inside = 0
      for (let i = 0; i < marked.length; i++) {
        if (marked[i] === without[i]) continue
        const x = Math.floor(i / 3) % size.width
        const y = Math.floor(i / 3 / size.width)
        assert.isTrue(x > size.width * 0.8 && y > size.height * 0.9, `a changed pixel at ${x}, ${y}`)
        inside++
      }
      assert.isAbove(inside, 300)
    })
  )

  it.effect("raw has muted colours and grain", () =>
    Effect.gen(function* () {
      for (const prompt of ["green hills", "a blue lake", "a red sunset"]) {
        const poster = yield* painted({ prompt })
        const raw = yield* painted({ prompt, raw: true })
        assert.isBelow(chromaOf(raw), chromaOf(poster) * 0.7, prompt)
        assert.isAbove(stepOf(raw), stepOf(poster), prompt)
      }
    })
  )

  it.effect("fidelity high is closer to the reference than low, and low closer than none", () =>
    Effect.gen(function* () {
      const reference = yield* boats
      const fitted = yield* Effect.promise(async () =>
        sharp(reference).flatten().resize(request.width, request.height, { fit: "cover" }).png().toBuffer()
      )
      const goal = yield* pixelsOf(fitted)
      const far = distance(yield* painted(), goal)
      const low = distance(yield* painted({ reference, fidelity: "low" }), goal)
      const high = distance(yield* painted({ reference, fidelity: "high" }), goal)
      assert.isBelow(low, far * 0.7)
      assert.isBelow(high, low * 0.5)
      assert.isAbove(high, 0)
      // The prompt is seen all the same.
      const other = yield* painted({ reference, fidelity: "high", prompt: "red hills" })
      assert.isAbove(distance(other, yield* painted({ reference, fidelity: "high" })), 1)
    })
  )

  it.effect("several references are side by side", () =>
    Effect.gen(function* () {
      const reference = [RED, GREEN, BLUE].map(png)
      const pixels = yield* painted({ reference, fidelity: "high", prompt: "grey" })
      for (const strip of [0, 1, 2] as const) {
        const rows = Array.from({ length: request.height }, (_, y) => {
          const start = (y * request.width + strip * 32) * 3
          return [...pixels.subarray(start, start + 32 * 3)]
        })
        const mean = meanOf(Uint8Array.from(rows.flat()))
        assert.isAbove(mean[strip], 100)
        assert.isAbove(mean[strip], Math.max(...mean.filter((_, i) => i !== strip)) * 2)
      }
    })
  )

  it.effect("quality adds shapes", () =>
    Effect.gen(function* () {
      const sizes = yield* Effect.forEach(["low", "medium", "high"] as const, (quality) =>
        Effect.map(paint({ ...request, format: "jpeg", quality }), ({ length }) => length)
      )
      assert.deepStrictEqual(
        sizes,
        sizes.toSorted((a, b) => a - b)
      )
      assert.strictEqual(new Set(sizes).size, 3)
      assert.isAbove(distance(yield* painted({ quality: "low" }), yield* painted({ quality: "high" })), 1)
    })
  )

  it.effect("paintMany uses consecutive seeds", () =>
    Effect.gen(function* () {
      const pictures = yield* paintMany({ ...request, seed: 7 }, 3)
      assert.deepStrictEqual(pictures, [
        yield* paint({ ...request, seed: 7 }),
        yield* paint({ ...request, seed: 8 }),
        yield* paint({ ...request, seed: 9 })
      ])
      for (const count of [0, 16, 1.5, Number.NaN]) {
        const { reason } = yield* Effect.flip(paintMany(request, count))
        assert.deepInclude(reason, { _tag: "InvalidRequest", param: "n" })
      }
    })
  )
})

describe("paint refuses", () => {
  it.effect("invalid sizes and seeds", () =>
    Effect.gen(function* () {
      for (const width of [0, -1, 15, 8193, 64.5, Number.NaN, Infinity]) {
        assert.strictEqual((yield* refusal({ width }))?.param, "size")
      }
      assert.strictEqual((yield* refusal({ width: 4097, height: 4096 }))?.param, "size")
      const { reason } = yield* Effect.flip(checkPaint({ ...request, width: 1 }))
      assert.deepInclude(reason, { _tag: "InvalidRequest", param: "size" })
      yield* checkPaint(request)
      for (const seed of [0.5, Number.NaN, Infinity]) {
        assert.strictEqual((yield* refusal({ seed }))?.param, "seed")
      }
    })
  )

  it.effect("references that are not pictures, damaged, too large or too many", () =>
    Effect.gen(function* () {
      const whole = yield* boats
      const huge = Uint8Array.from(png(RED))
      // 50,000 × 50,000 pixels, says the header.
      new DataView(huge.buffer).setUint32(16, 50_000)
      new DataView(huge.buffer).setUint32(20, 50_000)
      const bad: ReadonlyArray<readonly [Uint8Array | ReadonlyArray<Uint8Array>, RegExp]> = [
        [new Uint8Array(), /empty/],
        [GIF, /a GIF/],
        [new TextEncoder().encode("<svg/>"), /SVG/],
        [whole.subarray(0, whole.length / 2), /cannot be decoded/],
        [whole.subarray(0, 20), /cut off/],
        [huge, /more than [\d,]+ pixels/],
        [new Uint8Array(20 * 1024 * 1024 + 1), /20 MB/],
        [Array.from({ length: 15 }, () => whole), /at most 14/]
      ]
      for (const [reference, message] of bad) {
        const reason = yield* refusal({ reference })
        assert.match(reason?.message ?? "", message)
        assert.deepInclude(reason, { param: "image", code: "invalid_image" })
      }
    })
  )
})
