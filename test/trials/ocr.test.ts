import { assert, layer } from "@effect/vitest"
import { makeOcr, type Ocr, type OcrLine } from "@sluice/embedded/vision"
import { ConfigProvider, Context, Effect, Fiber, Layer } from "effect"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import sharp from "sharp"
import { mergeLines } from "../../packages/embedded/src/vision/OcrLine.ts"

class Reading extends Context.Service<Reading, Ocr>()("test/embedded/Reading") {
  static readonly layer = Layer.effect(Reading, makeOcr)
}

const chart = Effect.promise(() => readFile(join(import.meta.dirname, "../embedded/fixtures/boats.png")))
const recognize = (image: Uint8Array) => Effect.flatMap(Reading, ({ recognize }) => recognize(image))
const textOf = (lines: ReadonlyArray<OcrLine>) => lines.map(({ text }) => text).join("\n")

layer(Reading.layer, { excludeTestServices: true, timeout: "60 seconds" })("ocr", (it) => {
  it.effect("reads a chart: English, numbers, Chinese, positions, size and colours", () =>
    Effect.gen(function* () {
      const { colours, height, lines, width } = yield* recognize(yield* chart)
      assert.deepStrictEqual([width, height], [720, 420])
      assert.deepStrictEqual(
        colours.map(({ name }) => name),
        ["white", "blue"]
      )
      const text = textOf(lines)
      assert.include(text, "Boats locked through in 2024")
      for (const shown of ["31", "58", "96", "142", "March", "April", "May", "June"])
        assert.include(text, shown)
      assert.match(text, /六月共有一百四十二.船通过船闸/)
      const june = lines.find((line) => line.text === "142")
      // In the picture the number stands at 555, 77, and is 33 × 17.
      assert.isTrue(june !== undefined && Math.abs(june.box[0] - 555) < 6 && Math.abs(june.box[1] - 77) < 6)
      assert.isTrue(lines.every(({ confidence }) => confidence > 0 && confidence <= 1))
    })
  )

  it.effect("reads JPEG and WEBP, a picture rotated by EXIF, and one with transparency", () =>
    Effect.gen(function* () {
      const png = yield* chart
      const turned = yield* Effect.promise(() =>
        sharp(png).rotate(90).withMetadata({ orientation: 8 }).jpeg({ quality: 90 }).toBuffer()
      )
      const { lines, width } = yield* recognize(turned)
      assert.strictEqual(width, 720)
      assert.include(textOf(lines), "Boats locked through in 2024")
      const clear = yield* Effect.promise(async () => {
        const { data, info } = await sharp(png).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
        for (let i = 0; i < data.length; i += 4) if (data[i] === 255) data[i + 3] = 0
        return sharp(data, { raw: { width: info.width, height: info.height, channels: 4 } })
          .webp({ lossless: true })
          .toBuffer()
      })
      assert.include(textOf((yield* recognize(clear)).lines), "Boats locked through in 2024")
    })
  )

  const recognizeIn = (languages: string, image: Uint8Array) =>
    Effect.scoped(Effect.flatMap(makeOcr, ({ recognize }) => recognize(image))).pipe(
      Effect.provideService(
        ConfigProvider.ConfigProvider,
        ConfigProvider.fromUnknown({ SLUICE_OCR_LANGUAGES: languages })
      )
    )

  it.effect("reads as many pictures at a time as SLUICE_OCR_WORKERS says", () =>
    Effect.gen(function* () {
      const png = yield* chart
      const [line, page] = yield* Effect.promise(() => {
        const rows = [1, 2, 3, 4].map((row) => ({ input: png, left: 0, top: 420 * row }))
        return Promise.all([
          sharp(png).extract({ left: 0, top: 0, width: 720, height: 60 }).png().toBuffer(),
          sharp(png).extend({ bottom: 1_680, background: "white" }).composite(rows).png().toBuffer()
        ])
      })
      /** Whether a page is read while two lines are, one after the other. */
      const overlaps = (workers: string) =>
        Effect.gen(function* () {
          const { recognize } = yield* makeOcr
          const reading = yield* Effect.forkChild(recognize(page), { startImmediately: true })
          // With one engine, the page is read before the second line at the latest.
          for (const image of [line, line]) yield* recognize(image)
          const isReading = reading.pollUnsafe() === undefined
          yield* Fiber.join(reading)
          return isReading
        }).pipe(
          Effect.scoped,
          Effect.provideService(
            ConfigProvider.ConfigProvider,
            ConfigProvider.fromUnknown({ SLUICE_OCR_LANGUAGES: "eng", SLUICE_OCR_WORKERS: workers })
          )
        )
      assert.deepStrictEqual([yield* overlaps("1"), yield* overlaps("2")], [false, true])
    })
  )

  it.effect("reads the configured languages only", () =>
    Effect.gen(function* () {
      const text = textOf((yield* recognizeIn("eng", yield* chart)).lines)
      assert.include(text, "Boats locked through in 2024")
      assert.notMatch(text, /\p{Script=Han}/u)
    })
  )

  it.effect("names the package of a configured language that is missing, and refuses other names", () =>
    Effect.gen(function* () {
      const png = yield* chart
      const missing = yield* Effect.flip(recognizeIn("eng, zul", png))
      assert.include(
        missing.message,
        "npm install sharp tesseract.js @tesseract.js-data/eng @tesseract.js-data/zul"
      )
      for (const wrong of ["../eng", "German", ","]) {
        const error = yield* Effect.flip(recognizeIn(wrong, png))
        assert.strictEqual(error.reason._tag, "InvalidRequest")
        assert.match(error.message, /SLUICE_OCR_LANGUAGES must be/)
      }
    })
  )

  it.effect("finds no text in a blank picture", () =>
    Effect.gen(function* () {
      const blank = yield* Effect.promise(() =>
        sharp({ create: { width: 300, height: 200, channels: 3, background: "#20a040" } })
          .png()
          .toBuffer()
      )
      const { colours, lines } = yield* recognize(blank)
      assert.deepStrictEqual(lines, [])
      assert.deepStrictEqual(colours, [{ name: "green", share: 1 }])
    })
  )

  it.effect("refuses a damaged picture and one with too many pixels, then reads another", () =>
    Effect.gen(function* () {
      const png = yield* chart
      const huge = Buffer.from(png)
      // Width and height stand in the header, at 16 and 20.
      huge.writeUInt32BE(60_000, 16)
      huge.writeUInt32BE(60_000, 20)
      for (const bad of [png.subarray(0, 400), huge, Buffer.from("no picture")]) {
        const error = yield* Effect.flip(recognize(bad))
        assert.strictEqual(error.reason._tag, "InvalidRequest")
        assert.match(error.message, /cannot be decoded|pixels/)
      }
      assert.include(textOf((yield* recognize(png)).lines), "142")
    })
  )

  it("mergeLines keeps the better of two lines, and inserts lines of the second pass", () => {
    const line = (text: string, top: number, confidence = 0.9, left = 0, width = 100): OcrLine => ({
      text,
      confidence,
      box: [left, top, width, 10]
    })
    const merged = mergeLines(
      [line("title", 0), line("March June", 100), line("left column", 200, 0.9, 0, 40)],
      [
        line("March May June", 101),
        line("42", 50),
        line("left column right column", 200),
        line("titIe", 0, 0.5)
      ]
    )
    assert.deepStrictEqual(
      merged.map(({ text }) => text),
      ["title", "42", "March May June", "left column"]
    )
  })
})
