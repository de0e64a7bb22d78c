/** A progress bar on standard error, drawn only on a terminal. */
import { Clock, Effect } from "effect"

const WIDTH = 28
/** Minimum time between two redraws. */
const REDRAW_MILLISECONDS = 80

/** One line, cut to the width of the terminal. */
export const renderBar = (
  label: string,
  done: number,
  total: number | undefined,
  detail: string,
  columns: number
): string => {
  const share = total === undefined || total === 0 ? undefined : Math.min(1, done / total)
  const filled = Math.round((share ?? 0) * WIDTH)
  const bar = share === undefined ? "" : ` ${"█".repeat(filled)}${"░".repeat(WIDTH - filled)}`
  const count = total === undefined ? `${done}` : `${done}/${total}`
  return `${label}${bar} ${count}  ${detail}`.slice(0, Math.max(0, columns - 1))
}

/** Draws `done` of `total`, or only the count when `total` is unknown, then `detail`. */
type Update = (done: number, total: number | undefined, detail: string) => Effect.Effect<void>

/** Erases the bar when the scope closes. Draws nothing where standard error is not a terminal. */
export const progressBar = Effect.fnUntraced(function* (label: string) {
  const out = process.stderr
  let last = Number.NEGATIVE_INFINITY
  if (out.isTTY) yield* Effect.addFinalizer(() => Effect.sync(() => out.write("\r\u001b[2K")))
  const update: Update = (done, total, detail) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      if (!out.isTTY || (now - last < REDRAW_MILLISECONDS && done !== total)) return
      last = now
      out.write(`\r\u001b[2K${renderBar(label, done, total, detail, out.columns)}`)
    })
  return { update }
})
