/** The canvas of a composition, and its SVG elements. */
import type { Palette } from "./Palette.ts"
import type { Random } from "./Random.ts"

export interface Canvas {
  /** In pixels. */
  readonly width: number
  readonly height: number
  readonly palette: Palette
  readonly random: Random
  /** The number of shapes relative to the usual one. */
  readonly detail: number
}

/** A composition: it takes its random numbers once, then draws SVG elements for any time in seconds. */
export type Composition = (canvas: Canvas) => (seconds: number) => string

/** A number of pixels for SVG, rounded to a tenth. */
export const formatPixels = (pixels: number): string => String(Math.round(pixels * 10) / 10)

/** A gradient, by default from top to bottom. A stop is `[0 to 1, "#rrggbb", opacity]`. */
export const gradient = (
  id: string,
  stops: ReadonlyArray<readonly [at: number, colour: string, opacity?: number]>,
  kind: "linear" | "radial" = "linear"
): string => {
  const inner = stops.map(
    ([at, colour, opacity = 1]) => `<stop offset="${at}" stop-color="${colour}" stop-opacity="${opacity}"/>`
  )
  const direction = kind === "linear" ? ' x1="0" y1="0" x2="0" y2="1"' : ""
  return `<${kind}Gradient id="${id}"${direction}>${inner.join("")}</${kind}Gradient>`
}

/** Fills the canvas with a colour or gradient. */
export const background = ({ height, width }: Canvas, fill: string): string =>
  `<rect width="${width}" height="${height}" fill="${fill}"/>`

export const circle = (x: number, y: number, radius: number, attributes: string): string =>
  `<circle cx="${formatPixels(x)}" cy="${formatPixels(y)}" r="${formatPixels(radius)}" ${attributes}/>`

/** A smooth line through the midpoints between these points. */
export const smooth = (points: ReadonlyArray<readonly [x: number, y: number]>): string => {
  const parts: Array<string> = []
  for (const [at, [x, y]] of points.entries()) {
    const next = points[at + 1]
    if (at === 0) parts.push(`M${formatPixels(x)} ${formatPixels(y)}`)
    else if (next === undefined) parts.push(`L${formatPixels(x)} ${formatPixels(y)}`)
    else {
      const middle = `${formatPixels((x + next[0]) / 2)} ${formatPixels((y + next[1]) / 2)}`
      parts.push(`Q${formatPixels(x)} ${formatPixels(y)} ${middle}`)
    }
  }
  return parts.join("")
}

/** Points across the canvas; `at` gives the height at a share of the width, 0 to 1. */
export const profile = (
  { width }: Canvas,
  points: number,
  at: (share: number) => number
): ReadonlyArray<readonly [number, number]> =>
  Array.from({ length: points + 3 }, (_, i) => {
    const share = (i - 1) / points
    return [share * width, at(share)] as const
  })

/** The area below a line. */
export const areaBelow = (
  { height, width }: Canvas,
  line: ReadonlyArray<readonly [number, number]>
): string =>
  `${smooth(line)}L${formatPixels(width * 1.1)} ${height + 2}L${formatPixels(-width * 0.1)} ${height + 2}Z`
