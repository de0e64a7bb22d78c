/** The retrieval as a picture: twenty streams, a gate, three that pass. */
const WIDTH = 720
const ROW = 7
const GATE = 500
const STREAMS = 20
/** The streams start and end outside the picture. */
const OUTSIDE = 2000

/** The row at the gate of each stream: a fixed shuffle, so that the picture is always the same. */
const GATE_ROWS = [3, 0, 6, 1, 9, 4, 12, 2, 7, 15, 5, 10, 17, 8, 13, 11, 19, 14, 16, 18]

const y = (row: number): number => ROW / 2 + row * ROW

export const WelcomePicture = () => (
  <svg
    class="water"
    viewBox={`0 0 ${WIDTH} ${STREAMS * ROW}`}
    preserveAspectRatio="xMidYMid slice"
    aria-hidden="true"
  >
    {GATE_ROWS.map((to, from) => {
      const passes = to < 3
      const middle = GATE * 0.55
      const path = `M${-OUTSIDE} ${y(from)} H0 C${middle} ${y(from)} ${middle} ${y(to)} ${GATE} ${y(to)}`
      return (
        <path
          pathLength={1}
          class={passes ? "stream passes" : "stream"}
          d={passes ? `${path} H${WIDTH + OUTSIDE}` : path}
        />
      )
    })}
    {GATE_ROWS.map((_, row) =>
      row < 3 ? null : (
        <rect class="plank" x={GATE} y={row * ROW + 0.75} width="10" height={ROW - 1.5} rx="1" />
      )
    )}
    <path class="post" d={`M${GATE - 3} 0V${STREAMS * ROW}M${GATE + 13} 0V${STREAMS * ROW}`} />
  </svg>
)
