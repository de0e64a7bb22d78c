/** A camera move over a still picture: a slow zoom and pan. */
import type { Size } from "./MediaRequest.ts"
import type { Random } from "./drawing/Random.ts"
import type { Pixels } from "./ReferencePixels.ts"

/** The closest view shows this share of the picture's sides. */
const CLOSEST = 0.84

/** The RGBA pixels at `share` of the film, 0 to 1. */
export type PanZoom = (share: number) => Uint8Array

/** All frames share one buffer. */
export const panZoomOf = (picture: Pixels, { height, width }: Size, random: Random): PanZoom => {
  const zoomsIn = random.between(0, 1) < 0.7
  const aside = random.pick([0, 0.25, 0.75, 1])
  const down = random.pick([0.15, 0.5, 0.85])
  const out = new Uint8Array(width * height * 4).fill(255)
  const columns = new Int32Array(width)
  const shares = new Int32Array(width)
  const { data, height: rows, width: across } = picture
  return (share) => {
    const eased = share * share * (3 - 2 * share)
    const seen = 1 - (1 - CLOSEST) * (zoomsIn ? eased : 1 - eased)
    const left = (1 - seen) * aside * (across - 1)
    const top = (1 - seen) * down * (rows - 1)
    for (let x = 0; x < width; x++) {
      const at = left + (x / Math.max(1, width - 1)) * seen * (across - 1)
      const column = Math.min(across - 2, Math.floor(at))
      columns[x] = column * 3
      shares[x] = Math.round((at - column) * 256)
    }
    for (let y = 0, to = 0; y < height; y++) {
      const at = top + (y / Math.max(1, height - 1)) * seen * (rows - 1)
      const row = Math.min(rows - 2, Math.floor(at))
      const lower = Math.round((at - row) * 256)
      const start = row * across * 3
      for (let x = 0; x < width; x++, to += 4) {
        const from = start + (columns[x] as number)
        const right = shares[x] as number
        for (let c = 0; c < 3; c++) {
          const a = data[from + c] as number
          const b = data[from + c + 3] as number
          const nextRow = from + c + across * 3
          const d = data[nextRow] as number
          const e = data[nextRow + 3] as number
          const first = (a << 8) + (b - a) * right
          const second = (d << 8) + (e - d) * right
          out[to + c] = ((first << 8) + (second - first) * lower) >> 16
        }
      }
    }
    return out
  }
}
