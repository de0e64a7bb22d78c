/** Decodes reference pictures: upright, on white, cropped to a size. Used by the video thread too. */
import type { Sharp, Size } from "./MediaRequest.ts"

/** RGB pixels of three bytes each. */
export interface Pixels extends Size {
  readonly data: Buffer
}

/** Equal to `MAX_IMAGE_PIXELS` of `@sluice/core`, which the thread would have to load. */
const MAX_REFERENCE_PIXELS = 16_384 * 8_192

const cropTo = (sharp: Sharp, image: Uint8Array, { height, width }: Size): Promise<Buffer> =>
  sharp(image, { limitInputPixels: MAX_REFERENCE_PIXELS, failOn: "error" })
    .autoOrient()
    .flatten({ background: "white" })
    .resize(width, height, { fit: "cover" })
    .toColourspace("srgb")
    .removeAlpha()
    .raw()
    .toBuffer()

/** Several pictures become strips of equal width side by side. Rejects if one cannot be decoded. */
export const referencePixels = async (
  sharp: Sharp,
  images: ReadonlyArray<Uint8Array>,
  { height, width }: Size
): Promise<Pixels> => {
  const [only, ...others] = images
  if (only !== undefined && others.length === 0) {
    return { width, height, data: await cropTo(sharp, only, { width, height }) }
  }
  const strip = Math.floor(width / images.length)
  const strips = []
  for (const [i, image] of images.entries()) {
    const size = { width: i === images.length - 1 ? width - i * strip : strip, height }
    const input = await cropTo(sharp, image, size)
    strips.push({ input, raw: { ...size, channels: 3 } as const, left: i * strip, top: 0 })
  }
  const data = await sharp({ create: { width, height, channels: 3, background: "black" } })
    .composite(strips)
    .removeAlpha()
    .raw()
    .toBuffer()
  return { width, height, data }
}

export const decodingError = (cause: unknown): string => {
  const why = cause instanceof Error ? cause.message : String(cause)
  return `The reference image cannot be decoded: ${why}. Export it again as PNG, JPEG or WEBP.`
}
