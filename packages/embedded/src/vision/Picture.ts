/** Prepares a picture for OCR: upright, on white, grey, and of a suitable size. */
import { GatewayError, InvalidRequest } from "@sluice/core"
import { MAX_IMAGE_PIXELS } from "@sluice/core/media"
import { Effect } from "effect"
import { coloursOf } from "./Colours.ts"
import { optionalPackage } from "../optionalPackage.ts"

/** Small print is recognized better enlarged. Very large pictures are reduced, which loses nothing. In pixels. */
const MIN_WIDTH = 1_200
const MAX_SIDE = 4_000
const MAX_ENLARGEMENT = 4

/** The sides of the thumbnail whose colours are counted, in pixels. */
const THUMBNAIL = 64

/** Decodes a PNG, JPEG or WEBP image. Fails with `InvalidRequest` for a damaged one, or one with too many pixels. */
export const preparePicture = Effect.fn("sluice.preparePicture")(function* (image: Uint8Array) {
  const { default: sharp } = yield* optionalPackage("vision")("sharp", () => import("sharp"))
  return yield* Effect.tryPromise({
    try: async () => {
      const upright = await sharp(image, { limitInputPixels: MAX_IMAGE_PIXELS })
        .autoOrient()
        .flatten({ background: "white" })
        .toColourspace("srgb")
        .raw()
        .toBuffer({ resolveWithObject: true })
      const { channels, height, width } = upright.info
      const decoded = () => sharp(upright.data, { raw: { width, height, channels } })
      const enlarged = Math.min(MAX_ENLARGEMENT, Math.max(1, MIN_WIDTH / width))
      const scale = Math.min(enlarged, MAX_SIDE / Math.max(width, height))
      const grey = await decoded()
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
      return {
        /** In pixels, after the rotation in EXIF. */
        width,
        height,
        colours: coloursOf(thumbnail),
        /** The picture for OCR: a grey PNG. */
        grey,
        /** The width of `grey` relative to the picture. */
        scale
      }
    },
    catch: (cause) => {
      const why = cause instanceof Error ? cause.message : String(cause)
      const message = /pixel limit/i.test(why)
        ? `The picture has more than ${MAX_IMAGE_PIXELS.toLocaleString("en")} pixels. Make it smaller.`
        : `The picture cannot be decoded: ${why}. Export it again as PNG, JPEG or WEBP.`
      return new GatewayError({
        operation: "vision",
        reason: new InvalidRequest({ message, code: "invalid_image" })
      })
    }
  })
})
