/** One bar per day. The caption shows the day under the pointer, or the total. */
import { useState } from "preact/hooks"

interface Props {
  readonly days: ReadonlyArray<{ readonly day: string; readonly amount: number }>
  readonly amountOf: (amount: number) => string
}

/** Units of the drawing, which is stretched to the width of the page. */
const BAR = 10
const GAP = 3
/** From this many days on there are no gaps between the bars. */
const DENSE = 120
const HEIGHT = 100
/** The height of the smallest bar. */
const MIN_HEIGHT = 1.5

const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" })
const named = (date: string | undefined): string => (date === undefined ? "" : day.format(new Date(date)))

export const UsageChart = ({ amountOf, days }: Props) => {
  const [pointed, setPointed] = useState<number | undefined>(undefined)
  const most = Math.max(...days.map(({ amount }) => amount))
  const total = days.reduce((sum, { amount }) => sum + amount, 0)
  const at = pointed === undefined ? undefined : days[pointed]
  const gap = days.length < DENSE ? GAP : 0
  const width = days.length * (BAR + gap) - gap
  const point = (event: PointerEvent) => {
    const { left, width } = (event.currentTarget as SVGElement).getBoundingClientRect()
    const index = Math.floor(((event.clientX - left) / width) * days.length)
    setPointed(Math.max(0, Math.min(days.length - 1, index)))
  }
  return (
    <figure class="usage-chart">
      <figcaption>
        <b>{amountOf(at?.amount ?? total)}</b>{" "}
        <span class="quiet">{at === undefined ? `in ${days.length} days` : named(at.day)}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
        onPointerMove={point}
        onPointerDown={point}
        onPointerLeave={() => setPointed(undefined)}
      >
        {days.map(({ amount, day }, index) => {
          const height = amount === 0 ? 0 : Math.max(MIN_HEIGHT, (amount / most) * HEIGHT)
          return (
            <rect
              key={day}
              x={index * (BAR + gap)}
              width={BAR}
              y={HEIGHT - height}
              height={height}
              data-pointed={index === pointed}
            />
          )
        })}
      </svg>
      <p class="axis quiet">
        <span>{named(days[0]?.day)}</span>
        <span>{named(days.at(-1)?.day)}</span>
      </p>
    </figure>
  )
}
