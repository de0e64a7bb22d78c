/** Plots as inline SVG. CSS variables of the page set their colours, light and dark. */
import { type Markup, markup } from "../../wire/Markup.ts"

const WIDTH = 860
const LEFT = 150
const RIGHT = 70
const ROW = 22
const AXIS = 28

const svg = (height: number, label: string, children: ReadonlyArray<Markup>): Markup =>
  markup`<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${label}">${children}</svg>`

const PLOT_WIDTH = WIDTH - LEFT - RIGHT

/** About five round numbers from `low` to `high`. */
const ticks = (low: number, high: number): ReadonlyArray<number> => {
  const raw = Math.max(high - low, 1e-9) / 5
  const power = 10 ** Math.floor(Math.log10(raw))
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= raw) ?? 10) * power
  const first = Math.ceil(low / step)
  const count = Math.floor(high / step + 1e-9) - first + 1
  return Array.from({ length: Math.max(0, count) }, (_, i) => (first + i) * step)
}

const gridLine = (x: number, height: number, value: number): Markup =>
  markup`<line class="grid" x1="${x}" x2="${x}" y1="4" y2="${height - AXIS}"/><text class="tick" x="${x}" y="${height - 10}" text-anchor="middle">${value}</text>`

/** Colour and name of each series. */
const legend = (names: ReadonlyArray<string>): Markup =>
  markup`<p class="legend">${names.map((name, i) => markup`<span><i class="s${i % 8}"></i>${name}</span>`)}</p>`

/** A legend, and a group of bars for each name with one bar for each series. Values are 0 to 1. */
export const groupedBars = (
  label: string,
  names: ReadonlyArray<string>,
  series: ReadonlyArray<{ readonly name: string; readonly values: ReadonlyArray<number> }>
): Markup => {
  const bar = 14
  const group = series.length * bar + 14
  const height = names.length * group + AXIS + 6
  const x = (value: number) => LEFT + value * PLOT_WIDTH
  const plot = svg(height, label, [
    ...ticks(0, 1).map((value) => gridLine(x(value), height, value)),
    ...names.map((name, at) => {
      const top = 6 + at * group
      const bars = series.map(({ name: of, values }, i) => {
        const value = values[at] ?? 0
        const y = top + i * bar
        return markup`<rect class="s${i % 8}" x="${LEFT}" y="${y}" width="${Math.max(0, x(value) - LEFT)}" height="${bar - 3}"><title>${of}, ${name}: ${value}</title></rect><text class="value" x="${x(value) + 5}" y="${y + bar - 4}">${value.toFixed(3)}</text>`
      })
      return markup`<text class="name" x="${LEFT - 10}" y="${top + (series.length * bar) / 2 + 3}" text-anchor="end">${name}</text>${bars}`
    })
  ])
  return markup`${legend(series.map(({ name }) => name))}${plot}`
}

/** Differences and their confidence intervals, around a line at zero. */
export const intervals = (
  label: string,
  rows: ReadonlyArray<{
    readonly name: string
    readonly difference: number
    readonly interval: readonly [number, number]
    readonly significant: boolean
  }>
): Markup => {
  // A margin, so that the ends of the widest interval are visible.
  const edge = 1.06 * Math.max(0.01, ...rows.flatMap(({ interval }) => interval.map(Math.abs)))
  const height = rows.length * ROW + AXIS + 8
  const x = (value: number) => LEFT + ((value / edge + 1) / 2) * PLOT_WIDTH
  return svg(height, label, [
    ...ticks(-edge, edge).map((value) => gridLine(x(value), height, value)),
    markup`<line class="zero" x1="${x(0)}" x2="${x(0)}" y1="4" y2="${height - AXIS}"/>`,
    ...rows.map(({ difference, interval: [low, high], name, significant }, i) => {
      const y = 16 + i * ROW
      const tone = significant ? (difference > 0 ? "better" : "worse") : "unclear"
      return markup`<g class="${tone}"><text class="name" x="${LEFT - 10}" y="${y + 4}" text-anchor="end">${name}</text><line x1="${x(low)}" x2="${x(high)}" y1="${y}" y2="${y}"/><circle cx="${x(difference)}" cy="${y}" r="4.5"><title>${name}: ${difference} [${low}, ${high}]</title></circle></g>`
    })
  ])
}
