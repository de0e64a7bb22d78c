/** Pictures to start from, as pixels: upright, on white, cut to a size. Runs in any thread. */
import type { Size } from "./MediaRequest.ts"
import type { Sharp } from "./Sharp.ts"

/** A picture's pixels: three bytes each, red, green and blue. */
export interface Pixels extends Size {
  readonly data: Buffer
}

/** As `MAX_IMAGE_PIXELS` of `@sluice/core`, all of which a thread would load for it. */
export const MAX_REFERENCE_PIXELS = 16_384 * 8_192

const fitted = (sharp: Sharp, image: Uint8Array, { height, width }: Size): Promise<Buffer> =>
  sharp(image, { limitInputPixels: MAX_REFERENCE_PIXELS, failOn: "error" })
    .autoOrient()
    .flatten({ background: "white" })
    .resize(width, height, { fit: "cover" })
    .toColourspace("srgb")
    .removeAlpha()
    .raw()
    .toBuffer()

/** Side by side in strips of the same width; the last one takes what is left. Rejects for what cannot be decoded. */
export const referencePixels = async (
  sharp: Sharp,
  images: ReadonlyArray<Uint8Array>,
  { height, width }: Size
): Promise<Pixels> => {
  const [only, ...others] = images
  if (only !== undefined && others.length === 0) {
    return { width, height, data: await fitted(sharp, only, { width, height }) }
  }
  const strip = Math.floor(width / images.length)
  const strips = []
  for (const [i, image] of images.entries()) {
    const size = { width: i === images.length - 1 ? width - i * strip : strip, height }
    const input = await fitted(sharp, image, size)
    strips.push({ input, raw: { ...size, channels: 3 } as const, left: i * strip, top: 0 })
  }
  const data = await sharp({ create: { width, height, channels: 3, background: "black" } })
    .composite(strips)
    .removeAlpha()
    .raw()
    .toBuffer()
  return { width, height, data }
}

/** Why a picture could not be decoded, in words for who sent it. */
export const whyNotDecoded = (cause: unknown): string => {
  const why = cause instanceof Error ? cause.message : String(cause)
  return `The reference image cannot be decoded: ${why}. Export it again as PNG, JPEG or WEBP.`
}
