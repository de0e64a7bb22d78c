/** A bar on the terminal for work that takes long. It is drawn on standard error, and only where a person looks. */
import { Clock, Effect, type Scope } from "effect"

const WIDTH = 28
/** A bar drawn more often than this costs more than it tells. */
const EVERY_MILLISECONDS = 80

export interface Progress {
  /** Draws the bar at `done` of `total` (unknown: a count alone), with `detail` behind it. */
  readonly update: (done: number, total: number | undefined, detail: string) => Effect.Effect<void>
}

/** One line of the bar, cut to the terminal's width. */
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

/** A bar that is wiped away when its scope closes. Where standard error is no terminal it draws nothing. */
export const make = (label: string): Effect.Effect<Progress, never, Scope.Scope> =>
  Effect.gen(function* (): Effect.fn.Return<Progress, never, Scope.Scope> {
    const out = process.stderr
    if (!out.isTTY) return { update: () => Effect.void }
    let last = Number.NEGATIVE_INFINITY
    yield* Effect.addFinalizer(() => Effect.sync(() => out.write("\r\u001b[2K")))
    return {
      update: (done, total, detail) =>
        Clock.currentTimeMillis.pipe(
          Effect.map((now) => {
            if (now - last < EVERY_MILLISECONDS && done !== total) return
            last = now
            out.write(`\r\u001b[2K${renderBar(label, done, total, detail, out.columns)}`)
          })
        )
    }
  })
