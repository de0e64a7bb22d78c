/** Files with one JSON value per line. */
import { readFileSync } from "node:fs"

export const readJsonLines = <A>(path: string): ReadonlyArray<A> =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as A)

export const toJsonLines = (values: Iterable<unknown>): string =>
  [...values].map((value) => `${JSON.stringify(value)}\n`).join("")
