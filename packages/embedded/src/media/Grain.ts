/** The grain of film, as a tile that is laid over a picture. */
import type { Size } from "./MediaRequest.ts"
import { randomOf } from "./drawing/Random.ts"

/** In pixels, of the tile's sides: large enough that nobody sees it come again. */
const SIDE = 256
/** How much of it is seen, of 255. */
const ALPHA = 72

/** A layer for a picture of this size: grey of any lightness, mostly middle ones, thin. */
export const grainOf = (seed: number, picture: Size) => {
  const { between } = randomOf("grain", seed)
  // No tile may be larger than what it is laid over.
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
