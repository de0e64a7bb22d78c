/** An image whose bytes are here, looked at but not decoded. */
import { Result } from "effect"
import { type ImageFormat, imageFormatOf, nameOfBytes } from "./ImageFormat.ts"
import { type ImageSize, imageSizeOf } from "./ImageSize.ts"

/** The bytes of an image, and what its header says. */
export interface LoadedImage extends ImageSize {
  readonly format: ImageFormat
  readonly bytes: Uint8Array
}

/** The image in some bytes, of any length; or a sentence on why there is none, which begins with `what`. */
export const loadImage = (bytes: Uint8Array, what = "The image"): Result.Result<LoadedImage, string> => {
  const format = imageFormatOf(bytes)
  if (format === undefined) {
    return Result.fail(`${what} is ${nameOfBytes(bytes)}, not a PNG, JPEG or WEBP image.`)
  }
  const size = imageSizeOf(format, bytes)
  return size === undefined
    ? Result.fail(`${what} is cut off or damaged: its header states no width and height.`)
    : Result.succeed({ format, bytes, ...size })
}
