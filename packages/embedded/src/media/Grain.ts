/** The grain of film, as a tile that is laid over a picture. */
import { randomOf } from "./Random.ts"

/** In pixels, of the tile's sides. */
export const GRAIN_SIDE = 256
/** How much of it is seen, of 255. */
const GRAIN_ALPHA = 72

/** Four bytes a pixel: grey of any lightness, mostly middle ones, thin. */
export const grainOf = (seed: number): Buffer => {
  const { between } = randomOf("grain", seed)
  const tile = Buffer.alloc(GRAIN_SIDE * GRAIN_SIDE * 4)
  for (let i = 0; i < tile.length; i += 4) {
    const grey = Math.round((between(0, 255) + between(0, 255)) / 2)
    tile[i] = grey
    tile[i + 1] = grey
    tile[i + 2] = grey
    tile[i + 3] = GRAIN_ALPHA
  }
  return tile
}
