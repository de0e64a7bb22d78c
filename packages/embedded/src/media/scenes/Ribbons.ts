/** Wavy bands of colour, like an aurora or silk. */
import { background, type Composition, formatPixels, gradient, smooth } from "../drawing/Canvas.ts"

export const ribbons: Composition = (canvas) => {
  const { detail, height, palette, random, width } = canvas
  const { accent, night, tone } = palette
  const unit = Math.min(width, height)
  const count = Math.max(4, Math.round(13 * detail))
  const lean = random.between(-0.35, 0.35) * height
  const swings = [0, 1, 2].map((k) => ({
    frequency: random.between(0.35, 0.8) * (k + 1),
    phase: random.between(0, 6.28),
    speed: random.between(0.18, 0.42) * random.pick([1, -1])
  }))
  const bands = Array.from({ length: count }, (_, i) => ({
    share: i / (count - 1),
    drift: random.between(-0.5, 0.5),
    thick: random.between(0.5, 1.5),
    opacity: random.between(0.5, 0.92)
  }))
  const defs = gradient("background", [
    [0, tone(0, night ? 0.1 : 0.97)],
    [1, tone(1, night ? 0.22 : 0.88)]
  ])
  const fills = bands.map(({ share }, i) => {
    const light = night ? 0.3 + 0.45 * share : 0.9 - 0.5 * share
    return gradient(`b${i}`, [
      [0, tone(share, Math.min(0.97, light + 0.1))],
      [1, tone(share, light - 0.07)]
    ])
  })
  const sway = unit * random.between(0.1, 0.2)
  return (seconds) => {
    const parts = [`<defs>${defs}${fills.join("")}</defs>`, background(canvas, "url(#background)")]
    const middle = (share: number, drift: number, at: number) =>
      height * (0.12 + 0.8 * share) +
      lean * (at - 0.5) +
      swings.reduce(
        (y, { frequency, phase, speed }, k) =>
          y +
          (sway / (k + 1)) * Math.sin(6.283 * frequency * at + phase + share * 2.4 + drift + speed * seconds),
        0
      )
    for (const [i, { drift, opacity, share, thick }] of bands.entries()) {
      const half = (at: number) =>
        ((height * 0.62) / count) * thick * (0.55 + 0.45 * Math.sin(3 * at + drift * 6 + seconds * 0.3))
      const steps = Array.from({ length: 27 }, (_, k) => (k - 1) / 25)
      const upper = steps.map((at) => [at * width, middle(share, drift, at) - half(at)] as const)
      const lower = steps.map((at) => [at * width, middle(share, drift, at) + half(at)] as const).toReversed()
      parts.push(
        `<path d="${smooth(upper)}${smooth(lower).replace("M", "L")}Z" fill="url(#b${i})" fill-opacity="${opacity.toFixed(2)}"/>`,
        `<path d="${smooth(upper)}" fill="none" stroke="${i % 5 === 2 ? accent : tone(share, night ? 0.85 : 0.98)}" stroke-opacity=".55" stroke-width="${formatPixels(unit * 0.0018)}"/>`
      )
    }
    return parts.join("")
  }
}
