/** Results go to standard output, everything else to standard error. */
import { Console, Effect } from "effect"

/** Prints the result: JSON for programs, text for people. */
export const printResult = (asJson: boolean, result: unknown, text: () => string): Effect.Effect<void> =>
  Console.log(asJson ? JSON.stringify(result, undefined, 2) : text())

/** Sets exit code 1 without an error: the result is printed, but something in it failed. */
export const setExitCode = Effect.sync(() => {
  process.exitCode = 1
})

/** Prints a line that is not part of the result. */
export const note = (text: string): Effect.Effect<void> => Console.error(text)

/** The location of a passage: `handbook.pdf › page 3 › Locks`. */
export const breadcrumb = (
  start: string,
  { headings, page }: { readonly headings: ReadonlyArray<string>; readonly page?: number | undefined }
): string => [start, ...(page === undefined ? [] : [`page ${page}`]), ...headings].join(" › ")
