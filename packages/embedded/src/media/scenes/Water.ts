/** Waves in layers under a low sun that glitters on them. */
import { areaBelow, type Composition, formatPixels, gradient, profile, smooth } from "../drawing/Canvas.ts"
import { skyOf } from "./Sky.ts"

export const water: Composition = (canvas) => {
  const { detail, height, palette, random, width } = canvas
  const { accent, night, tone } = palette
  const unit = Math.min(width, height)
  const horizon = random.between(0.36, 0.52)
  const sky = skyOf(canvas, horizon)
  const count = Math.max(3, Math.round(8 * detail))
  const waves = Array.from({ length: count }, (_, i) => {
    const near = i / (count - 1)
    return {
      near,
      base: height * (horizon + (1 - horizon) * 0.94 * near ** 1.25),
      swell: unit * (0.004 + 0.034 * near),
      components: [0, 1, 2].map((k) => ({
        frequency: random.between(0.7, 1.5) * (k + 1) * (2.6 - 1.5 * near) * (width / unit),
        phase: random.between(0, 6.28),
        speed: random.between(0.5, 1) * (k % 2 === 0 ? 1 : -1),
        amplitude: 1 / (k + 1) ** 1.2
      }))
    }
  })
  const glints = Array.from({ length: Math.round(34 * detail) }, () => ({
    down: random.between(0, 1),
    aside: random.between(-1, 1),
    long: random.between(0.3, 1),
    phase: random.between(0, 6.28)
  }))
  const light = (near: number) => (night ? 0.4 - 0.26 * near : 0.8 - 0.5 * near)
  const defs = waves.map(({ near }, i) =>
    gradient(`w${i}`, [
      [0, tone(1 - near, light(near) + 0.07)],
      [0.5, tone(1 - near, light(near))],
      [1, tone(1 - near, light(near) - 0.1)]
    ])
  )
  return (seconds) => {
    const parts = [`<defs>${sky.defs}${defs.join("")}</defs>`, sky.draw(seconds)]
    for (const [i, { base, components, near, swell }] of waves.entries()) {
      const line = profile(canvas, 30, (share) =>
        components.reduce(
          (y, { amplitude, frequency, phase, speed }) =>
            y + swell * amplitude * Math.sin(6.283 * frequency * share + phase + speed * seconds),
          base
        )
      )
      parts.push(
        `<path d="${areaBelow(canvas, line)}" fill="url(#w${i})"/>`,
        `<path d="${smooth(line)}" fill="none" stroke="${tone(1 - near, night ? 0.66 : 0.97)}" stroke-opacity="${(0.22 + 0.3 * near).toFixed(2)}" stroke-width="${formatPixels(unit * (0.001 + 0.0018 * near))}"/>`
      )
      // The reflection of the sun on this wave.
      for (const glint of glints) {
        if (Math.floor(glint.down * count) !== i) continue
        const y = base + (glint.down * count - i) * (height * 0.07) + swell
        const reach = unit * (0.05 + 0.12 * near)
        const x = sky.disc.x + glint.aside * reach + unit * 0.01 * Math.sin(glint.phase + seconds * 1.7)
        const half = reach * 0.42 * glint.long * (0.75 + 0.25 * Math.sin(glint.phase + seconds * 2.3))
        parts.push(
          `<path d="M${formatPixels(x - half)} ${formatPixels(y)}H${formatPixels(x + half)}" stroke="${accent}" stroke-linecap="round" stroke-opacity="${(0.5 - 0.25 * Math.abs(glint.aside)).toFixed(2)}" stroke-width="${formatPixels(unit * (0.0025 + 0.005 * near))}"/>`
        )
      }
    }
    return parts.join("")
  }
}
