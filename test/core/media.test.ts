import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import {
  base64ByteLength,
  decodeBase64,
  encodeBase64,
  type ImageSource,
  MAX_IMAGE_BYTES
} from "@sluice/core/contract"
import {
  highDetailTokens,
  imageFormatOf,
  imageSizeOf,
  imageTokens,
  makeDataUri,
  parseDataUri,
  readImage
} from "@sluice/core/media"
import { InvalidRequest } from "@sluice/core"
import { Effect, FileSystem, Schema } from "effect"
import * as Images from "./mediaImages.ts"

const { onePixel } = Images
const within = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const side = (max: number) => within(1, max)
const octets = Schema.Array(within(0, 255))

const bytesOf = (base64: string) => new Uint8Array(Buffer.from(base64, "base64"))

/** The error of a source that must be refused. */
const refusalOf = (source: ImageSource) =>
  Effect.provide(readImage(source), NodeFileSystem.layer).pipe(
    Effect.matchEffect({
      onFailure: (reason) => {
        assert.instanceOf(reason, InvalidRequest)
        return Effect.succeed(reason.message)
      },
      onSuccess: () => Effect.die(new Error("It was taken."))
    })
  )

describe("the format of an image", () => {
  it("is read from the first bytes, its size from the header", () => {
    const { gif, ...taken } = onePixel
    for (const [name, base64] of Object.entries(taken)) {
      const bytes = bytesOf(base64)
      const format = imageFormatOf(bytes)
      assert.isDefined(format, name)
      assert.isTrue(name.startsWith(format), name)
      assert.deepStrictEqual(imageSizeOf(format, bytes), { width: 1, height: 1 }, name)
    }
    assert.isUndefined(imageFormatOf(bytesOf(gif)))
  })

  const kinds = [
    ["JPEG", "jpeg", Images.jpegHead, 65_535],
    ["lossy WEBP", "webp", Images.webpLossyHead, 16_383],
    ["lossless WEBP", "webp", Images.webpLosslessHead, 16_384],
    ["extended WEBP", "webp", Images.webpExtendedHead, 2 ** 24]
  ] as const
  for (const [name, format, make, max] of kinds) {
    it.prop(
      `every size comes back from the header of a ${name}`,
      [side(max), side(max)],
      ([width, height]) => {
        assert.deepStrictEqual(imageSizeOf(format, make(width, height)), { width, height })
      }
    )

    it(`is known without a size if a ${name} is truncated`, () => {
      const head = make(300, 200)
      // The last byte of the JPEG's header is the number of components.
      const needed = head.length - (format === "jpeg" ? 1 : 0)
      for (let cut = 0; cut < needed; cut++) {
        assert.isUndefined(imageSizeOf(format, head.subarray(0, cut)), `cut at ${cut}`)
      }
    })
  }

  it.prop("has the size written to a PNG", [side(300), side(300)], ([width, height]) => {
    const png = Images.png(width, height)
    assert.deepStrictEqual(imageSizeOf("png", png), { width, height })
    for (let cut = 0; cut < 24; cut++) assert.isUndefined(imageSizeOf("png", png.subarray(0, cut)))
  })

  it("has no size of 0, and no size from a JPEG table", () => {
    assert.isUndefined(imageSizeOf("jpeg", Images.jpegHead(0, 5)))
    for (const table of [0xc4, 0xc8, 0xcc]) {
      assert.isUndefined(imageSizeOf("jpeg", Images.jpegHead(9, 9, table)))
    }
    assert.deepStrictEqual(imageSizeOf("jpeg", Images.jpegHead(9, 8, 0xc2)), { width: 9, height: 8 })
  })

  it("is read from a view with an offset", () => {
    const png = Images.png(7, 9)
    const shifted = new Uint8Array(png.length + 5)
    shifted.set(png, 5)
    assert.deepStrictEqual(imageSizeOf("png", shifted.subarray(5)), { width: 7, height: 9 })
  })
})

describe("Base64 and data URIs", () => {
  it.prop("decode to the bytes encoded", [octets], ([list]) => {
    const bytes = Uint8Array.from(list)
    const text = encodeBase64(bytes)
    assert.deepStrictEqual([...(decodeBase64(text) ?? [-1])], [...bytes])
    assert.strictEqual(base64ByteLength(text), bytes.length)
    const parts = parseDataUri(makeDataUri("image/png", bytes))
    assert.deepStrictEqual(parts, { mediaType: "image/png", base64: text })
  })

  it("reject text that is not strict Base64", () => {
    for (const text of [
      "AAA",
      "AA=A",
      "AAAA====",
      "AA\nA",
      "AAA\n",
      "AA-_",
      "AB==",
      "=AAA",
      "AA A",
      "ÄÄÄÄ"
    ]) {
      assert.isUndefined(decodeBase64(text), JSON.stringify(text))
    }
  })

  it("accept parameters and any case in a data URI, but only Base64", () => {
    assert.deepStrictEqual(parseDataUri("DATA:Image/PNG;charset=x;BASE64,AAAA"), {
      mediaType: "image/png",
      base64: "AAAA"
    })
    assert.deepStrictEqual(parseDataUri("data:;base64,AAAA"), { mediaType: "text/plain", base64: "AAAA" })
    for (const text of ["data:image/png,AAAA", "data:image/png;base64", "image/png;base64,AAAA", "data:"]) {
      assert.isUndefined(parseDataUri(text), text)
    }
  })
})

describe("the source of an image", () => {
  it.effect("may be bytes, Base64, a data URI, a file or a URL", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      // The name is ignored: the bytes count.
      const file = yield* files.makeTempFileScoped({ suffix: ".gif" })
      const bytes = Images.png(40, 30)
      yield* files.writeFile(file, bytes)
      const base64 = encodeBase64(bytes)
      const uri = `data:image/png;base64,${base64}`
      const url = "https://example.com/cat.gif?size=9"

      for (const source of [bytes, uri, { file }]) {
        const { image, ...sent } = yield* readImage(source)
        assert.deepStrictEqual(sent, { wire: uri, url: uri })
        assert.deepStrictEqual([image?.format, image?.width, image?.height], ["png", 40, 30])
        assert.deepStrictEqual([...(image?.bytes ?? [])], [...bytes])
      }
      const plain = yield* readImage(base64)
      assert.deepStrictEqual([plain.wire === base64, plain.url === uri], [true, true])
      assert.deepStrictEqual(yield* readImage(url), { wire: url, url })
      assert.deepStrictEqual(yield* readImage(new URL(url)), { wire: url, url })
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )

  it.effect("is rejected with the name of its format unless the bytes are PNG, JPEG or WEBP", () =>
    Effect.gen(function* () {
      const text = (start: string) => new Uint8Array(Buffer.from(start.padEnd(40, "x"), "latin1"))
      const cases: ReadonlyArray<readonly [ImageSource, RegExp]> = [
        [bytesOf(onePixel.gif), /is a GIF, not a PNG, JPEG or WEBP image/],
        [onePixel.gif, /is a GIF/],
        [`data:image/png;base64,${onePixel.gif}`, /is a GIF/],
        [text("BM"), /BMP/],
        [text("II*\0"), /TIFF/],
        [text("\0\0\0\x20ftypavif"), /AVIF/],
        [text("\0\0\0\x20ftypheic"), /HEIC/],
        [text("\0\0\0\x20ftypisom"), /video/],
        [text("%PDF-1.7"), /PDF/],
        [text("  <svg>"), /markup/],
        [text("RIFF1234WAVE"), /unknown format/],
        [new Uint8Array(), /empty/],
        ["", /empty/],
        [Images.png(9, 9).subarray(0, 20), /cut off or damaged/],
        [`data:image/webp;base64,${onePixel.png}`, /declares image\/webp, but its bytes are image\/png/],
        [`data:image/png,${onePixel.png}`, /not of the form/],
        [`${onePixel.png}\n`, /not Base64.*\{ file: path \}/],
        ["./cat.png", /not Base64.*\{ file: path \}/],
        ["ftp://example.com/cat.png", /neither http/],
        ["C:\\cat.png", /neither http.*\{ file: path \}/],
        ["file:///etc/passwd", /neither http/],
        ["https://", /not a valid/],
        [{ file: "/no/such/cat.png" }, /\/no\/such\/cat\.png cannot be read/],
        [{ file: "/" }, /is not a file/]
      ]
      for (const [source, why] of cases) assert.match(yield* refusalOf(source), why)
    })
  )

  it.effect("is sent as image/jpeg if it is declared as image/jpg", () =>
    Effect.gen(function* () {
      const { wire } = yield* readImage(`data:image/jpg;base64,${onePixel.jpeg}`)
      assert.strictEqual(wire, `data:image/jpeg;base64,${onePixel.jpeg}`)
    })
  )

  it.effect("may have 20 MB, not a byte more, as bytes, text and file", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const large = new Uint8Array(MAX_IMAGE_BYTES + 1)
      large.set(Images.png(9, 9))
      const most = large.subarray(0, MAX_IMAGE_BYTES)
      const file = yield* files.makeTempFileScoped()
      yield* files.writeFile(file, most)
      const sizes = [yield* readImage(most), yield* readImage(encodeBase64(most)), yield* readImage({ file })]
      assert.deepStrictEqual(
        sizes.map(({ image }) => image?.bytes.length),
        [MAX_IMAGE_BYTES, MAX_IMAGE_BYTES, MAX_IMAGE_BYTES]
      )
      yield* files.writeFile(file, large)
      for (const source of [large, encodeBase64(large), makeDataUri("image/png", large), { file }]) {
        assert.match(yield* refusalOf(source), /has 20\.00 MB\. The limit is 20 MB/)
      }
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )
})

describe("the tokens of an image", () => {
  it("are 85 for low, and depend on tiles of 512 for high", () => {
    assert.deepStrictEqual(imageTokens("low", { width: 9000, height: 9000 }), { least: 85, most: 85 })
    const examples = [
      [1024, 1024, 765],
      [2048, 4096, 1105],
      [4096, 8192, 1105],
      [1, 1, 255],
      [512, 512, 255],
      [513, 512, 425],
      [2048, 768, 1445],
      [100_000, 1, 85 + 4 * 170]
    ] as const
    for (const [width, height, tokens] of examples) {
      assert.strictEqual(highDetailTokens({ width, height }), tokens, `${width} x ${height}`)
      assert.strictEqual(highDetailTokens({ width: height, height: width }), tokens)
      assert.deepStrictEqual(imageTokens("high", { width, height }), { least: tokens, most: tokens })
      assert.deepStrictEqual(imageTokens("auto", { width, height }), { least: 85, most: tokens })
    }
  })

  it.prop(
    "never less than one tile, never more than eight",
    [side(100_000), side(100_000)],
    ([width, height]) => {
      const tokens = highDetailTokens({ width, height })
      assert.isTrue(tokens >= 255 && tokens <= 1445, `${tokens}`)
    }
  )

  it("are a range if the size is unknown", () => {
    assert.deepStrictEqual(imageTokens("high"), { least: 255, most: 1445 })
    assert.deepStrictEqual(imageTokens(), { least: 85, most: 1445 })
  })
})
