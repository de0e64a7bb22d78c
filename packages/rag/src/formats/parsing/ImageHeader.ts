/** Reads the header of an image: format, size and resolution. Pixels are not decoded. */
import {
  imageFormatOf,
  imageSizeOf,
  type ImageFormat,
  MAX_IMAGE_PIXELS,
  describeFormat
} from "@sluice/core/media"
import { MAX_IMAGE_BYTES } from "@sluice/core/contract"

const INCH_IN_METRES = 0.0254
/** Resolution of images that state none, as in browsers, and the limits of plausible ones. */
const DEFAULT_DPI = 96
const MIN_DPI = 36
const MAX_DPI = 2_400

/** Pixels after EXIF rotation, and pixels per inch. */
export interface ImageHeader {
  readonly format: ImageFormat
  readonly width: number
  readonly height: number
  readonly dpi: number
}

/** Why an image is not read. `message` is a sentence without its full stop. */
interface ImageHeaderFault {
  readonly reason: "Malformed" | "TooLarge"
  readonly message: string
}

/** Calls `found` with each chunk of a PNG or WebP, or segment of a JPEG, before the pixels. */
const eachPart = (
  format: ImageFormat,
  view: DataView,
  found: (name: string, at: number, length: number) => void
): void => {
  const name = (at: number): string =>
    String.fromCharCode(...[0, 1, 2, 3].map((offset) => view.getUint8(at + offset)))
  let at = format === "jpeg" ? 2 : format === "png" ? 8 : 12
  while (at + 8 <= view.byteLength) {
    if (format === "jpeg") {
      if (view.getUint8(at) !== 0xff || view.getUint8(at + 1) === 0xda) return
      const length = view.getUint16(at + 2)
      found(view.getUint8(at + 1).toString(16), at + 4, Math.max(0, length - 2))
      at += 2 + Math.max(2, length)
    } else {
      const length = format === "png" ? view.getUint32(at) : view.getUint32(at + 4, true)
      const type = name(format === "png" ? at + 4 : at)
      if (type === "IDAT") return
      found(type, at + 8, length)
      at += format === "png" ? length + 12 : length + 8 + (length % 2)
    }
  }
}

/** Whether EXIF rotates the image by a quarter turn, so that width and height are swapped. */
const isTurned = (view: DataView, at: number, length: number): boolean => {
  const end = Math.min(view.byteLength, at + length)
  // JPEG has "Exif\0\0" before it, WebP has not
  const start = at + 6 <= end && view.getUint32(at) === 0x45786966 ? at + 6 : at
  if (start + 8 > end) return false
  const little = view.getUint16(start) === 0x4949
  const directory = start + view.getUint32(start + 4, little)
  if (directory + 2 > end) return false
  const entries = view.getUint16(directory, little)
  for (let i = 0, entry = directory + 2; i < entries && entry + 12 <= end; i++, entry += 12) {
    if (view.getUint16(entry, little) === 0x0112) return view.getUint16(entry + 8, little) >= 5
  }
  return false
}

/** The header of a PNG, JPEG or WebP image, or why it is not read. `what` is the subject of the message. */
export const imageHeaderOf = (bytes: Uint8Array, what: string): ImageHeader | ImageHeaderFault => {
  const fault = (reason: ImageHeaderFault["reason"], message: string): ImageHeaderFault => ({
    reason,
    message: `${what} ${message}`
  })
  const format = imageFormatOf(bytes)
  if (format === undefined)
    return fault("Malformed", `is ${describeFormat(bytes)}, not a PNG, JPEG or WebP image`)
  if (bytes.length > MAX_IMAGE_BYTES) {
    return fault(
      "TooLarge",
      `has ${(bytes.length / 1024 / 1024).toFixed(1)} MB; the limit is ${MAX_IMAGE_BYTES / 1024 / 1024} MB`
    )
  }
  const size = imageSizeOf(format, bytes)
  if (size === undefined)
    return fault("Malformed", "is cut off or damaged: its header has no width and height")
  const { height, width } = size
  if (width * height > MAX_IMAGE_PIXELS) {
    return fault(
      "TooLarge",
      `has ${width} × ${height} pixels; the limit is ${MAX_IMAGE_PIXELS.toLocaleString("en")}`
    )
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let dpi = DEFAULT_DPI
  let turned = false
  eachPart(format, view, (name, at, length) => {
    if (at + Math.min(length, 14) > bytes.length) return
    if (name === "pHYs" && length >= 9 && view.getUint8(at + 8) === 1)
      dpi = view.getUint32(at) * INCH_IN_METRES
    if (name === "e0" && length >= 12 && view.getUint32(at) === 0x4a464946) {
      const perUnit = [undefined, 1, 2.54][view.getUint8(at + 7)]
      if (perUnit !== undefined) dpi = view.getUint16(at + 8) * perUnit
    }
    const exif = name === "e1" && length >= 4 && view.getUint32(at) === 0x45786966
    if (exif || name === "EXIF" || name === "eXIf") turned = isTurned(view, at, length)
  })
  if (!(dpi >= MIN_DPI && dpi <= MAX_DPI)) dpi = DEFAULT_DPI
  return turned ? { format, width: height, height: width, dpi } : { format, width, height, dpi }
}
