/** Translucent discs and rings that orbit one point. */
import { background, circle, type Composition, formatPixels, gradient } from "../drawing/Canvas.ts"

export const circles: Composition = (canvas) => {
  const { detail, height, palette, random, width } = canvas
  const { accent, night, tone } = palette
  const unit = Math.min(width, height)
  const centre = { x: width * random.between(0.36, 0.64), y: height * random.between(0.38, 0.62) }
  const spread = Math.hypot(width, height) * 0.5
  const count = Math.max(6, Math.round(26 * detail))
  const discs = Array.from({ length: count }, (_, i) => ({
    // The golden angle spreads them evenly.
    angle: i * 2.39996 + random.between(-0.2, 0.2),
    away: spread * Math.sqrt((i + 0.5) / count) * random.between(0.75, 1),
    radius: unit * random.between(0.03, 0.2) * random.between(0.5, 1.2),
    share: random.between(0, 1),
    light: night ? random.between(0.35, 0.8) : random.between(0.48, 0.86),
    ring: random.between(0, 1) < 0.35,
    opacity: random.between(0.28, 0.72),
    speed: random.between(0.05, 0.22) * random.pick([1, -1])
  }))
  const orbits = Array.from({ length: Math.max(3, Math.round(9 * detail)) }, (_, i) => ({
    radius: spread * 0.12 * (i + 1) * random.between(0.9, 1.08),
    dash:
      random.between(0, 1) < 0.4
        ? `stroke-dasharray="${formatPixels(unit * 0.004)} ${formatPixels(unit * 0.014)}"`
        : ""
  }))
  const defs = gradient("background", [
    [0, tone(0.1, night ? 0.2 : 0.96)],
    [1, tone(0.9, night ? 0.12 : 0.87)]
  ])
  const bodies = discs.map(({ light, share }, i) =>
    gradient(`d${i}`, [
      [0, tone(share, Math.min(0.97, light + 0.1))],
      [1, tone(share, light - 0.08)]
    ])
  )
  const line = `fill="none" stroke="${tone(0.5, night ? 0.7 : 0.5)}" stroke-opacity=".35" stroke-width="${formatPixels(unit * 0.0016)}"`
  return (seconds) => {
    const parts = [`<defs>${defs}${bodies.join("")}</defs>`, background(canvas, "url(#background)")]
    for (const { dash, radius } of orbits) parts.push(circle(centre.x, centre.y, radius, `${line} ${dash}`))
    for (const [i, { angle, away, opacity, radius, ring, speed }] of discs.entries()) {
      const turned = angle + speed * seconds
      const x = centre.x + away * Math.cos(turned)
      const y = centre.y + away * Math.sin(turned)
      const attributes = ring
        ? `fill="none" stroke="url(#d${i})" stroke-width="${formatPixels(radius * 0.16)}" stroke-opacity="${opacity.toFixed(2)}"`
        : `fill="url(#d${i})" fill-opacity="${opacity.toFixed(2)}"`
      parts.push(circle(x, y, radius, attributes))
    }
    const pulse = unit * 0.045 * (1 + 0.06 * Math.sin(seconds * 2))
    return [...parts, circle(centre.x, centre.y, pulse, `fill="${accent}"`)].join("")
  }
}
