/** Reads the outline of a JSON text without parsing it, so that it can be changed in place. */
import { parseJson } from "@sluice/core/client"

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** Characters that are read one by one before `indexOf` is called, which takes longer where quotes stand close together. */
const NEAR = 32

/** The position after the closing quote of the string that starts at `at`, or -1. */
export const endOfString = (text: string, at: number): number => {
  let end = at + 1
  for (;;) {
    for (const near = end + NEAR; end < near; end++) {
      const code = text.charCodeAt(end)
      if (code === QUOTE) return end + 1
      if (code === BACKSLASH) end++
    }
    const quote = text.indexOf('"', end)
    if (quote < 0) return -1
    let slashes = 0
    while (quote - slashes > end && text.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes++
    end = quote + 1
    if (slashes % 2 === 0) return end
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
