/** Reads the outline of a JSON text without parsing it, so that it can be changed in place. */
import { parseJson } from "@sluice/core/client"

/** The position after the closing quote of the string that starts at `at`, or -1. */
export const endOfString = (text: string, at: number): number => {
  let end = at
  for (;;) {
    end = text.indexOf('"', end + 1)
    if (end < 0) return -1
    let slashes = 0
    while (text[end - 1 - slashes] === "\\") slashes++
    if (slashes % 2 === 0) return end + 1
  }
}

/** The string between two positions, quotes included. */
export const stringAt = (text: string, start: number, end: number): unknown => {
  const plain = text.slice(start + 1, end - 1)
  return plain.includes("\\") ? parseJson(text.slice(start, end)) : plain
}

/** The names of a JSON object's fields in order, each with the position of its value. A name may occur twice. */
export function* fieldNames(text: string): Generator<readonly [name: string, at: number]> {
  const structural = /["{}[\]]/g
  const colon = /\s*:\s*/y
  let depth = 0
  for (let match = structural.exec(text); match !== null; match = structural.exec(text)) {
    const [sign] = match
    if (sign !== '"') {
      depth += sign === "{" || sign === "[" ? 1 : -1
      continue
    }
    const end = endOfString(text, match.index)
    if (end < 0) return
    structural.lastIndex = end
    if (depth !== 1) continue
    // A string before a colon is a name.
    colon.lastIndex = end
    const name = colon.test(text) ? stringAt(text, match.index, end) : undefined
    if (typeof name === "string") yield [name, colon.lastIndex]
  }
}
