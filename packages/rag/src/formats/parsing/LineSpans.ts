/** Character ranges of lines. */
import type { Span } from "../../document/Document.ts"

/** The offsets of the lines after `from`, and the text's length. Lines end with `\n`, `\r\n` or `\r`. */
export const lineStarts = (text: string, from = 0): ReadonlyArray<number> => {
  const starts = [from]
  if (text.includes("\r")) {
    const ends = /\r\n?|\n/g
    ends.lastIndex = from
    while (ends.exec(text) !== null) starts.push(ends.lastIndex)
  } else {
    for (let at = text.indexOf("\n", from); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1)
  }
  starts.push(text.length)
  return starts
}

const isBlank = (code: number): boolean => code === 32 || (code >= 9 && code <= 13)

/** The span of lines `first` to `after` (exclusive), without blank lines around them and spaces at the end. */
export const blockSpan = (
  text: string,
  starts: ReadonlyArray<number>,
  [first, after]: readonly [first: number, after: number]
): Span | undefined => {
  let start = starts[first] ?? text.length
  let end = starts[Math.min(after, starts.length - 1)] ?? text.length
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  // Keep the indentation of the first line: it matters in code
  for (let at = start; at < end && isBlank(text.charCodeAt(at)); at++) {
    const code = text.charCodeAt(at)
    if (code === 10 || code === 13) start = at + 1
  }
  return end > start ? { start, end } : undefined
}
