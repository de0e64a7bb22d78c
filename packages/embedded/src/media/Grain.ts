/** Film grain: a tile that repeats over a picture. */
import type { Size } from "./MediaRequest.ts"
import { randomOf } from "./drawing/Random.ts"

/** The sides of the tile in pixels, large enough that the repetition does not show. */
const SIDE = 256
/** Opacity, 0 to 255. */
const ALPHA = 72

/** A layer for a picture of this size. */
export const grainOf = (seed: number, picture: Size) => {
  const { between } = randomOf("grain", seed)
  // sharp refuses a tile larger than the picture.
  const width = Math.min(SIDE, picture.width)
  const height = Math.min(SIDE, picture.height)
  const input = Buffer.alloc(width * height * 4, ALPHA)
  for (let i = 0; i < input.length; i += 4) {
    const grey = Math.round((between(0, 255) + between(0, 255)) / 2)
    input[i] = grey
    input[i + 1] = grey
    input[i + 2] = grey
  }
  const raw = { width, height, channels: 4 } as const
  return { input, raw, tile: true, gravity: "northwest", blend: "overlay" } as const
}
