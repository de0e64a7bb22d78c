/** Results go to standard output, everything else to standard error. */
import { Clock, Console, Effect } from "effect"

/** Prints the result: JSON for programs, text for people. */
export const printResult = (asJson: boolean, result: unknown, text: () => string): Effect.Effect<void> =>
  Console.log(asJson ? JSON.stringify(result, undefined, 2) : text())

/** Sets exit code 1 without an error: the result is printed, but something in it failed. */
export const setExitCode = Effect.sync(() => {
  process.exitCode = 1
})

/** Prints a line that is not part of the result. */
export const note = (text: string): Effect.Effect<void> => Console.error(text)

/** Says what is kept when Ctrl-C or a signal stops the command. */
export const noteOnInterrupt = (text: string) => Effect.onInterrupt(() => note(`Stopped. ${text}.`))

/** Cells of the bar. */
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
  const filled = Math.round(Math.min(1, done / (total || 1)) * WIDTH)
  const bar = total ? ` ${"█".repeat(filled)}${"░".repeat(WIDTH - filled)}` : ""
  const count = total === undefined ? `${done}` : `${done}/${total}`
  return `${label}${bar} ${count}  ${detail}`.slice(0, Math.max(0, columns - 1))
}

/**
 * A bar on standard error, drawn only on a terminal, and erased when the scope closes. It shows `done` of `total`, or only
 * the count when `total` is unknown, then `detail`.
 */
export const progressBar = Effect.fnUntraced(function* (label: string) {
  const out = process.stderr
  let last = Number.NEGATIVE_INFINITY
  if (out.isTTY) yield* Effect.addFinalizer(() => Effect.sync(() => out.write("\r\u001b[2K")))
  return (done: number, total: number | undefined, detail: string) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      if (!out.isTTY || (now - last < REDRAW_MILLISECONDS && done !== total)) return
      last = now
      out.write(`\r\u001b[2K${renderBar(label, done, total, detail, out.columns)}`)
    })
})
