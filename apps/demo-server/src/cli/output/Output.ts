/** Where a command writes: its result to standard output, everything else to standard error. */
import { Console, Effect } from "effect"
import { Flag } from "effect/cli"

/** With `--json` a command prints exactly one object on standard output: its result, or `{ "error": … }`. */
export const json = Flag.Boolean("json").pipe(
  Flag.withDescription("Print one JSON object on standard output and nothing else there"),
  Flag.withDefault(false)
)

/** The result: as an object for programs, as text for people. */
export const print = (asJson: boolean, result: unknown, text: () => string): Effect.Effect<void> =>
  Console.log(asJson ? JSON.stringify(result, undefined, 2) : text())

/** What is printed stands, and a program sees that not all went well: exit code 1. */
export const failed = Effect.sync(() => {
  process.exitCode = 1
})

/** Something a person wants to know that is not the result. */
export const note = (text: string): Effect.Effect<void> => Console.error(text)
