/** Pictures to start from: checked, upright, and cut to the size of what is drawn over them. */
import { type GatewayError, loadImage, MAX_IMAGE_BYTES } from "@sluice/core"
import { Effect, Result } from "effect"
import { MAX_PIXELS } from "../vision/Picture.ts"
import { type MediaOperation, refuse, type Size } from "./MediaRequest.ts"
import type { Sharp } from "./Sharp.ts"

/** Of one request at most. */
export const MAX_REFERENCES = 14

/** A picture's pixels: three bytes each, red, green and blue. */
export interface Pixels extends Size {
  readonly data: Uint8Array
}

const fitted = async (sharp: Sharp, image: Uint8Array, { height, width }: Size): Promise<Buffer> =>
  sharp(image, { limitInputPixels: MAX_PIXELS, failOn: "error" })
    .autoOrient()
    .flatten({ background: "white" })
    .resize(width, height, { fit: "cover" })
    .toColourspace("srgb")
    .removeAlpha()
    .raw()
    .toBuffer()

/** Side by side in strips of the same width, the last one takes what is left. */
const joined = async (sharp: Sharp, images: ReadonlyArray<Uint8Array>, size: Size): Promise<Buffer> => {
  const strip = Math.floor(size.width / images.length)
  const strips = []
  for (const [i, image] of images.entries()) {
    const width = i === images.length - 1 ? size.width - i * strip : strip
    const raw = { width, height: size.height, channels: 3 } as const
    strips.push({
      input: await fitted(sharp, image, { width, height: size.height }),
      raw,
      left: i * strip,
      top: 0
    })
  }
  return sharp({ create: { ...size, channels: 3, background: "black" } })
    .composite(strips)
    .removeAlpha()
    .raw()
    .toBuffer()
}

/**
 * The pixels to start from. Several pictures stand side by side.
 *
 * Fails with `InvalidRequest` for what is no PNG, JPEG or WEBP, is damaged, has more than 20 MB or too many pixels.
 */
export const preparedReference = (
  operation: MediaOperation,
  sharp: Sharp,
  images: ReadonlyArray<Uint8Array>,
  size: Size
): Effect.Effect<Pixels, GatewayError> => {
  const bad = (message: string) => refuse(operation, message, "image", "invalid_image")
  if (images.length > MAX_REFERENCES) {
    return Effect.fail(bad(`${images.length} reference images are more than ${MAX_REFERENCES}. Give fewer.`))
  }
  for (const image of images) {
    if (image.byteLength > MAX_IMAGE_BYTES) {
      return Effect.fail(bad("The reference image has more than 20 MB. Make it smaller."))
    }
    const loaded = loadImage(image, "The reference image")
    if (Result.isFailure(loaded)) return Effect.fail(bad(loaded.failure))
    if (loaded.success.width * loaded.success.height > MAX_PIXELS) {
      const most = MAX_PIXELS.toLocaleString("en")
      return Effect.fail(bad(`The reference image has more than ${most} pixels. Make it smaller.`))
    }
  }
  return Effect.tryPromise({
    try: async () => {
      const [only, ...others] = images
      const data =
        only !== undefined && others.length === 0
          ? await fitted(sharp, only, size)
          : await joined(sharp, images, size)
      return { ...size, data }
    },
    catch: (cause) => {
      const why = cause instanceof Error ? cause.message : String(cause)
      return bad(`The reference image cannot be decoded: ${why}. Export it again as PNG, JPEG or WEBP.`)
    }
  })
}

/** None, one, or several. */
export const referencesOf = (
  reference: Uint8Array | ReadonlyArray<Uint8Array> | undefined
): ReadonlyArray<Uint8Array> =>
  reference === undefined ? [] : reference instanceof Uint8Array ? [reference] : reference
