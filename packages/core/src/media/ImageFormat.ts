/** The format and the size of an image, read from its first bytes. */
import { Result, Schema } from "effect"

/** The formats that gateways accept. */
export const IMAGE_FORMATS = ["png", "jpeg", "webp"] as const
export type ImageFormat = (typeof IMAGE_FORMATS)[number]

const ascii = (bytes: Uint8Array, from: number, to: number): string =>
  String.fromCharCode(...bytes.subarray(from, to))

const starts = (bytes: Uint8Array, ...wanted: ReadonlyArray<number>): boolean =>
  wanted.every((byte, at) => bytes[at] === byte)

/** The format of an image by its magic bytes, or `undefined` for any other. */
export const imageFormatOf = (bytes: Uint8Array): ImageFormat | undefined => {
  if (starts(bytes, 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return "png"
  if (starts(bytes, 0xff, 0xd8, 0xff)) return "jpeg"
  return ascii(bytes, 0, 4) === "RIFF" && ascii(bytes, 8, 12) === "WEBP" ? "webp" : undefined
}

/** Names an unsupported format, for an error message. */
export const describeFormat = (bytes: Uint8Array): string => {
  const head = ascii(bytes, 0, 12)
  if (bytes.length === 0) return "empty"
  if (/^GIF8[79]a/.test(head)) return "a GIF"
  if (/^ftyp(avif|avis)/.test(head.slice(4))) return "an AVIF image"
  if (/^ftyp(hei|hev|mif1|msf1)/.test(head.slice(4))) return "a HEIC image"
  if (head.slice(4).startsWith("ftyp")) return "a video"
  if (head.startsWith("BM")) return "a BMP image"
  if (/^(II\*\0|MM\0\*)/.test(head)) return "a TIFF image"
  if (head.startsWith("%PDF-")) return "a PDF document"
  return /^\s*</.test(head) ? "SVG, HTML or other markup" : "of an unknown format"
}

/** `image/png`, `image/jpeg` or `image/webp`. */
export const mediaTypeOf = (format: ImageFormat): `image/${ImageFormat}` => `image/${format}`

/** In pixels, as stored. EXIF rotation is not applied. */
export interface ImageSize {
  readonly width: number
  readonly height: number
}

/** The most pixels of one image: 16,384 × 8,192. A tiny file may declare more. */
export const MAX_IMAGE_PIXELS = 16_384 * 8_192

/** The size that the header states, or `undefined` if it is truncated, damaged or 0. */
export const imageSizeOf = (format: ImageFormat, bytes: Uint8Array): ImageSize | undefined => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const size = READERS[format](view, ascii(bytes, 12, 16))
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined
}

/** The header chunk is the first one. `kind` is the name of the first chunk, at 12. */
const pngSize = (view: DataView, kind: string): ImageSize | undefined =>
  view.byteLength >= 24 && kind === "IHDR"
    ? { width: view.getUint32(16), height: view.getUint32(20) }
    : undefined

/** SOF0 to SOF15, without the three markers of that range that are not frames. */
const isFrame = (marker: number) =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc

/** Reads segments up to the frame header. */
const jpegSize = (view: DataView): ImageSize | undefined => {
  let at = 2
  while (at + 9 <= view.byteLength && view.getUint8(at) === 0xff) {
    const marker = view.getUint8(at + 1)
    if (isFrame(marker)) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) }
    // Fill bytes may stand before a marker; these markers have no length.
    if (marker === 0xff) at += 1
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) at += 2
    else at += 2 + Math.max(2, view.getUint16(at + 2))
  }
  return undefined
}

/** Lossy, lossless or extended: three headers. */
const webpSize = (view: DataView, kind: string): ImageSize | undefined => {
  if (view.byteLength < (kind === "VP8L" ? 25 : 30)) return undefined
  const uint24 = (at: number) => view.getUint16(at, true) | (view.getUint8(at + 2) << 16)
  switch (kind) {
    case "VP8 ":
      return uint24(23) === 0x2a019d
        ? { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
        : undefined
    case "VP8L": {
      const bits = view.getUint32(21, true)
      return view.getUint8(20) === 0x2f
        ? { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
        : undefined
    }
    case "VP8X":
      return { width: uint24(24) + 1, height: uint24(27) + 1 }
    default:
      return undefined
  }
}

const READERS = { png: pngSize, jpeg: jpegSize, webp: webpSize } as const

/** An image: its bytes, format and size. */
export const LoadedImage = Schema.Struct({
  format: Schema.Literals(IMAGE_FORMATS),
  width: Schema.Int,
  height: Schema.Int,
  bytes: Schema.Uint8Array
})
export interface LoadedImage extends Schema.Schema.Type<typeof LoadedImage> {}

/** Reads an image of any length. The error is a sentence that begins with `what`. */
export const loadImage = (bytes: Uint8Array, what = "The image"): Result.Result<LoadedImage, string> => {
  const format = imageFormatOf(bytes)
  if (format === undefined) {
    return Result.fail(`${what} is ${describeFormat(bytes)}, not a PNG, JPEG or WEBP image.`)
  }
  const size = imageSizeOf(format, bytes)
  return size === undefined
    ? Result.fail(`${what} is cut off or damaged: its header states no width and height.`)
    : Result.succeed({ format, bytes, ...size })
}
