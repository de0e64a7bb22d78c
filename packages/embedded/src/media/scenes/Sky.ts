/** The sky over water and land: a gradient, a sun or moon with a halo, and stars at night. */
import { background, type Canvas, circle, formatPixels, gradient } from "../drawing/Canvas.ts"

export interface Sky {
  /** Gradients, for `<defs>`. */
  readonly defs: string
  readonly draw: (seconds: number) => string
  /** The sun or moon, in pixels. */
  readonly disc: { readonly x: number; readonly y: number; readonly radius: number }
}

/** `horizon` is the share of the height above it. */
export const skyOf = (canvas: Canvas, horizon: number): Sky => {
  const { detail, height, palette, random, width } = canvas
  const { accent, night, tone } = palette
  const unit = Math.min(width, height)
  const disc = {
    x: width * random.between(0.22, 0.78),
    y: height * horizon * random.between(0.38, 0.78),
    radius: unit * random.between(0.055, 0.13)
  }
  const stars = Array.from({ length: night ? Math.round(70 * detail) : 0 }, () => ({
    x: random.between(0, width),
    y: height * horizon * random.between(0, 1) ** 1.3,
    radius: unit * random.between(0.0008, 0.0026),
    phase: random.between(0, 6.28),
    light: random.between(0.25, 0.95)
  }))
  const clouds = Array.from({ length: Math.round(5 * detail) }, () => ({
    x: random.between(-0.2, 1.1),
    y: height * horizon * random.between(0.12, 0.9),
    long: width * random.between(0.12, 0.42),
    thick: unit * random.between(0.003, 0.014),
    speed: random.between(0.004, 0.016)
  }))
  const lights = night ? [0.14, 0.26, 0.46] : [0.72, 0.84, 0.95]
  const [top = 0, middle = 0, low = 0] = lights
  const defs =
    gradient("sky", [
      [0, tone(0, top)],
      [0.55, tone(0.45, middle)],
      [1, tone(1, low)]
    ]) +
    gradient(
      "halo",
      [
        [0, accent, night ? 0.5 : 0.75],
        [0.35, accent, night ? 0.16 : 0.28],
        [1, accent, 0]
      ],
      "radial"
    )
  const draw = (seconds: number) => {
    const parts = [background(canvas, "url(#sky)")]
    for (const { light, phase, radius, x, y } of stars) {
      const shine = light * (0.7 + 0.3 * Math.sin(phase + seconds * 2))
      parts.push(circle(x, y, radius, `fill="#fff" fill-opacity="${shine.toFixed(2)}"`))
    }
    const { radius, x } = disc
    const y = disc.y - unit * 0.004 * seconds
    parts.push(circle(x, y, radius * 4.2, 'fill="url(#halo)"'), circle(x, y, radius, `fill="${accent}"`))
    for (const { long, speed, thick, x, y } of clouds) {
      const left = (((x + 0.5 + seconds * speed) % 1.6) - 0.5) * width
      parts.push(
        `<rect x="${formatPixels(left)}" y="${formatPixels(y)}" width="${formatPixels(long)}" height="${formatPixels(thick)}" rx="${formatPixels(thick / 2)}" fill="${tone(1, night ? 0.6 : 0.99)}" fill-opacity="${night ? 0.16 : 0.5}"/>`
      )
    }
    return parts.join("")
  }
  return { defs, draw, disc }
}
