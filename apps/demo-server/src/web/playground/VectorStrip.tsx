/** A vector as a strip: each mark is some of its numbers, the darker the larger; below zero it hangs. */
const MARKS = 128
const HEIGHT = 28

interface Props {
  readonly vector: ReadonlyArray<number>
  readonly label: string
}

/** Of each group of neighbours, the number that is furthest from zero. */
const marksOf = (vector: ReadonlyArray<number>): ReadonlyArray<number> => {
  const marks = Array.from<number>({ length: Math.min(MARKS, vector.length) }).fill(0)
  for (const [at, value] of vector.entries()) {
    const mark = Math.floor((at * marks.length) / vector.length)
    if (Math.abs(value) > Math.abs(marks[mark] ?? 0)) marks[mark] = value
  }
  return marks
}

export const VectorStrip = ({ label, vector }: Props) => {
  const marks = marksOf(vector)
  const largest = Math.max(...marks.map(Math.abs), Number.EPSILON)
  return (
    <div class="strip">
      <span class="quiet">{label}</span>
      <svg viewBox={`0 0 ${marks.length} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <line x1={0} x2={marks.length} y1={HEIGHT / 2} y2={HEIGHT / 2} />
        {marks.map((value, at) => {
          const height = (Math.abs(value) / largest) * (HEIGHT / 2)
          return value === 0 ? null : (
            <rect
              key={at}
              x={at + 0.15}
              width={0.7}
              y={value > 0 ? HEIGHT / 2 - height : HEIGHT / 2}
              height={height}
            />
          )
        })}
      </svg>
    </div>
  )
}
