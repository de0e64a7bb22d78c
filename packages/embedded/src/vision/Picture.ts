/** A picture made ready to be read: upright, on white, in grey, of a size that the reader reads best. */
import { GatewayError, InvalidRequest } from "@sluice/core"
import { MAX_IMAGE_PIXELS } from "@sluice/core/media"
import { Effect } from "effect"
import { type ColourShare, coloursOf } from "./Colours.ts"
import { optionalPackage } from "./optionalPackage.ts"

/** Small print is read better enlarged, and a very large picture is not read better for being large. */
const WIDTH_AT_LEAST = 1_200
const SIDE_AT_MOST = 4_000
const ENLARGED_AT_MOST = 4

/** The sides of the thumbnail whose pixels are counted. */
const THUMBNAIL = 64

export interface Picture {
  /** In pixels, upright: turned as EXIF says. */
  readonly width: number
  readonly height: number
  readonly colours: ReadonlyArray<ColourShare>
  /** In grey, as PNG. */
  readonly readable: Uint8Array
  /** What a length of the picture is multiplied by to be a length of `readable`. */
  readonly scale: number
}

const loadSharp = optionalPackage("sharp", () => import("sharp"))

/** Decodes a PNG, JPEG or WEBP image. A damaged one, or one of too many pixels, is an `InvalidRequest`. */
export const preparePicture = Effect.fn("sluice.preparePicture")(function* (image: Uint8Array) {
  const { default: sharp } = yield* loadSharp
  return yield* Effect.tryPromise({
    try: async (): Promise<Picture> => {
      // Upright once, for everything that follows.
      const upright = await sharp(image, { limitInputPixels: MAX_IMAGE_PIXELS })
        .autoOrient()
        .flatten({ background: "white" })
        .toColourspace("srgb")
        .raw()
        .toBuffer({ resolveWithObject: true })
      const { channels, height, width } = upright.info
      const decoded = () => sharp(upright.data, { raw: { width, height, channels } })
      const enlarged = Math.min(ENLARGED_AT_MOST, Math.max(1, WIDTH_AT_LEAST / width))
      const scale = Math.min(enlarged, SIDE_AT_MOST / Math.max(width, height))
      const readable = await decoded()
        .resize(Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale)), {
          fit: "fill"
        })
        .greyscale()
        .png({ compressionLevel: 1 })
        .toBuffer()
      const thumbnail = await decoded()
        .resize(THUMBNAIL, THUMBNAIL, { fit: "fill", kernel: "nearest" })
        .toColourspace("srgb")
        .raw()
        .toBuffer()
      return { width, height, colours: coloursOf(thumbnail), readable, scale }
    },
    catch: (cause) => {
      const why = cause instanceof Error ? cause.message : String(cause)
      const message = /pixel limit/i.test(why)
        ? `The picture has more than ${MAX_IMAGE_PIXELS.toLocaleString("en")} pixels. Make it smaller.`
        : `The picture cannot be decoded: ${why}. PNG, JPEG and WEBP are read; export it again.`
      return new GatewayError({
        operation: "vision",
        reason: new InvalidRequest({ message, code: "invalid_image" })
      })
    }
  })
})
