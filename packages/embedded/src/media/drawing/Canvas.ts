/** What every composition is drawn on, and how its lines are written. */
import type { Palette } from "./Palette.ts"
import type { Random } from "./Random.ts"

export interface Canvas {
  /** In pixels. */
  readonly width: number
  readonly height: number
  readonly palette: Palette
  readonly random: Random
  /** How many shapes there are, 1 the usual number. */
  readonly detail: number
}

/** A composition: chance is asked once, then each moment is drawn, in seconds from the beginning, as SVG. */
export type Composition = (canvas: Canvas) => (seconds: number) => string

/** A tenth of a pixel is finer than can be seen, and the same on every machine. */
export const digits = (pixels: number): string => String(Math.round(pixels * 10) / 10)

/** A gradient from top to bottom, `[0 to 1, "#rrggbb", opacity]` each. */
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

/** The whole canvas, in one colour or gradient. */
export const ground = ({ height, width }: Canvas, fill: string): string =>
  `<rect width="${width}" height="${height}" fill="${fill}"/>`

export const circle = (x: number, y: number, radius: number, look: string): string =>
  `<circle cx="${digits(x)}" cy="${digits(y)}" r="${digits(radius)}" ${look}/>`

/** A smooth line through the middles between these points. */
export const smooth = (points: ReadonlyArray<readonly [x: number, y: number]>): string => {
  const parts: Array<string> = []
  for (const [at, [x, y]] of points.entries()) {
    const next = points[at + 1]
    if (at === 0) parts.push(`M${digits(x)} ${digits(y)}`)
    else if (next === undefined) parts.push(`L${digits(x)} ${digits(y)}`)
    else {
      const middle = `${digits((x + next[0]) / 2)} ${digits((y + next[1]) / 2)}`
      parts.push(`Q${digits(x)} ${digits(y)} ${middle}`)
    }
  }
  return parts.join("")
}

/** The heights `at` a share of the width, 0 to 1, as a smooth line from edge to edge. */
export const profile = (
  { width }: Canvas,
  points: number,
  at: (share: number) => number
): ReadonlyArray<readonly [number, number]> =>
  Array.from({ length: points + 3 }, (_, i) => {
    const share = (i - 1) / points
    return [share * width, at(share)] as const
  })

/** Everything below such a line. */
export const below = ({ height, width }: Canvas, line: ReadonlyArray<readonly [number, number]>): string =>
  `${smooth(line)}L${digits(width * 1.1)} ${height + 2}L${digits(-width * 0.1)} ${height + 2}Z`
