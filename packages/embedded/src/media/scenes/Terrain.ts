/** Mountain ridges, paler with distance. */
import { areaBelow, type Composition, gradient, profile } from "../drawing/Canvas.ts"
import type { Random } from "../drawing/Random.ts"
import { skyOf } from "./Sky.ts"

/** Fractal noise of five octaves, about 0 to 1. */
const ridgeOf = (random: Random, persistence: number): ((at: number) => number) => {
  const octaves = [0, 1, 2, 3, 4].map((k) => ({
    frequency: 2 ** k,
    amplitude: persistence ** k,
    heights: Array.from({ length: 64 }, () => random.between(0, 1))
  }))
  const total = octaves.reduce((sum, { amplitude }) => sum + amplitude, 0)
  return (at) => {
    let y = 0
    for (const { amplitude, frequency, heights } of octaves) {
      const along = at * frequency + 64
      const left = Math.floor(along)
      const share = along - left
      const eased = share * share * (3 - 2 * share)
      const from = heights[left % 64] as number
      y += amplitude * (from + ((heights[(left + 1) % 64] as number) - from) * eased)
    }
    return y / total
  }
}

export const terrain: Composition = (canvas) => {
  const { detail, height, palette, random, width } = canvas
  const { night, tone } = palette
  const horizon = random.between(0.5, 0.66)
  const sky = skyOf(canvas, horizon)
  const count = Math.max(3, Math.round(6 * detail))
  const ridges = Array.from({ length: count }, (_, i) => {
    const near = i / (count - 1)
    return {
      near,
      base: height * (horizon - 0.02 + (1.04 - horizon) * near ** 1.15),
      high: height * (0.3 - 0.12 * near) * random.between(0.75, 1.2),
      wide: random.between(2.2, 3.6) * Math.max(0.6, width / height) * 0.6,
      line: ridgeOf(random, random.between(0.44, 0.56)),
      speed: 0.012 + 0.05 * near * near
    }
  })
  const light = (near: number) => (night ? 0.42 - 0.3 * near : 0.83 - 0.57 * near)
  const defs = ridges.map(({ near }, i) =>
    gradient(`r${i}`, [
      [0, tone(near * 0.9, light(near))],
      [0.45, tone(near * 0.9, light(near) + 0.05)],
      [1, tone(near * 0.6, light(near) + (night ? 0.06 : 0.14))]
    ])
  )
  return (seconds) => {
    const parts = [`<defs>${sky.defs}${defs.join("")}</defs>`, sky.draw(seconds)]
    for (const [i, { base, high, line, speed, wide }] of ridges.entries()) {
      const shape = profile(
        canvas,
        110,
        (share) => base - high * (line((share + seconds * speed) * wide) - 0.28)
      )
      parts.push(`<path d="${areaBelow(canvas, shape)}" fill="url(#r${i})"/>`)
    }
    return parts.join("")
  }
}
