/** How many pixels an image has, by the words of the interface. */
import type { ImageSize } from "@sluice/core/media"

/** The longer side. */
const SIDES: Readonly<Record<string, number>> = { auto: 1024, "1K": 1024, "2K": 2048, "4K": 4096, hd: 2048 }

const pair = (text: string | undefined, by: "x" | ":"): ImageSize | undefined => {
  const [width, height] = (text ?? "").split(by).map(Number)
  return width !== undefined && height !== undefined && width > 0 && height > 0
    ? { width, height }
    : undefined
}

/** A size of that shape, of which the longer side is `side`. */
const shaped = (side: number, { height, width }: ImageSize): ImageSize => {
  const scale = side / Math.max(width, height)
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) }
}

/**
 * The size to draw.
 *
 * **Details.** `size` says how long the longer side is, or both in pixels; `aspectRatio` gives the shape, also of a size
 * in pixels. With neither shape nor pixels a reference image gives it, and without one it is a square.
 */
export const pixelsOf = (
  {
    aspectRatio,
    size = "auto"
  }: { readonly aspectRatio?: string | undefined; readonly size?: string | undefined },
  reference: ImageSize | undefined
): ImageSize => {
  const exact = pair(size, "x")
  const ratio = pair(aspectRatio, ":")
  if (exact !== undefined)
    return ratio === undefined ? exact : shaped(Math.max(exact.width, exact.height), ratio)
  return shaped(SIDES[size] ?? 1024, ratio ?? reference ?? { width: 1, height: 1 })
}
