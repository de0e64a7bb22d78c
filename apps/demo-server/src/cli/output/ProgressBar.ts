/** A progress bar on standard error, drawn only on a terminal. */
import { Clock, Effect, type Scope } from "effect"

const WIDTH = 28
/** Minimum time between two redraws. */
const REDRAW_MILLISECONDS = 80

interface ProgressBar {
  /** Shows `done` of `total`, or only the count when `total` is unknown, then `detail`. */
  readonly update: (done: number, total: number | undefined, detail: string) => Effect.Effect<void>
}

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

/** Erases the bar when the scope closes. Draws nothing where standard error is not a terminal. */
export const progressBar = (label: string): Effect.Effect<ProgressBar, never, Scope.Scope> =>
  Effect.gen(function* (): Effect.fn.Return<ProgressBar, never, Scope.Scope> {
    const out = process.stderr
    if (!out.isTTY) return { update: () => Effect.void }
    let last = Number.NEGATIVE_INFINITY
    yield* Effect.addFinalizer(() => Effect.sync(() => out.write("\r\u001b[2K")))
    return {
      update: (done, total, detail) =>
        Clock.currentTimeMillis.pipe(
          Effect.map((now) => {
            if (now - last < REDRAW_MILLISECONDS && done !== total) return
            last = now
            out.write(`\r\u001b[2K${renderBar(label, done, total, detail, out.columns)}`)
          })
        )
    }
  })
